"""Latents as they are compared with their prior: in which units, and over which bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from bandstop.engine.recipe import Recipe
from bandstop.method.histogram.by_probability import by_probability
from bandstop.method.histogram.kl import Bins
from bandstop.method.priors import Prior
from bandstop.method.transport import scale_to_prior

__all__ = ["compared"]


def compared(values: Sequence[Tensor], recipe: Recipe, bins: Bins) -> tuple[list[Tensor], Prior, Bins]:
    """Latents of each layer, the prior they should follow, and the bins.

    Where latents are held, the prior's scale follows the layer: they are divided by it. Where they are the
    image of gaussian numbers, these are compared with the gaussian: over bins of equal probability the
    divergence is the same.
    """
    found, prior = list(values), recipe.trained_prior
    if recipe.threshold == "held":
        found = [value / scale_to_prior(value.detach(), prior) for value in found]
    if recipe.spacing == "width":
        return found, prior, bins
    return *by_probability(found, prior), replace(bins, limit=1.0)
