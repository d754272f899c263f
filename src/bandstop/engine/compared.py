"""Latents as they are compared with their prior: in which units, and over which bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from bandstop.engine.recipe import Recipe
from bandstop.engine.shards.tensor import Shards
from bandstop.engine.shards.transport import scales_to_prior
from bandstop.method.histogram.by_probability import by_probability
from bandstop.method.histogram.kl import Bins
from bandstop.method.priors import Prior

__all__ = ["compared"]


def compared(
    values: Sequence[Tensor], recipe: Recipe, bins: Bins, shards: Shards | None = None
) -> tuple[list[Tensor], Prior, Bins]:
    """Latents of each layer (of ``shards`` what is here), the prior they should follow, and the bins.

    Where latents are held, the prior's scale follows the layer: they are divided by it. Where they are the
    image of gaussian numbers, these are compared with the gaussian: over bins of equal probability the
    divergence is the same.
    """
    found, prior = list(values), recipe.trained_prior
    if recipe.rule == "held":
        scales = scales_to_prior([value.detach() for value in found], prior, shards)
        found = [value / scale for value, scale in zip(found, scales, strict=True)]
    if recipe.bin_spacing == "width":
        return found, prior, bins
    return *by_probability(found, prior), replace(bins, limit=1.0)
