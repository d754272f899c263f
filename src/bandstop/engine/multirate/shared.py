"""Thresholds of given latents at any rate: their own quantiles, or those of the prior they follow."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from bandstop.engine.recipe import Recipe
from bandstop.engine.select.topk import threshold_for
from bandstop.method.transport import scale_to_prior

__all__ = ["SharedThresholds"]


class SharedThresholds:
    """Thresholds that let k of a layer's n latents pass, for any k.

    Held latents need one number per layer, the scale s of the prior, and every rate is then arithmetic:
    ``a = s·F⁻¹(1 − k/n)``. Others are looked through for each k.

    >>> import torch
    >>> from dataclasses import replace
    >>> from bandstop.method.priors import Uniform
    >>> latents = {"a": torch.tensor([-0.2, 0.6, 1.0, -1.4])}
    >>> SharedThresholds(latents, replace(Recipe.held(Uniform(1.0)), coordinates="prior"))({"a": 1})
    {'a': tensor(1.2000)}
    >>> SharedThresholds(latents, Recipe.empirical())({"a": 1})
    {'a': tensor(1.)}
    """

    def __init__(self, latents: Mapping[str, Tensor], recipe: Recipe) -> None:
        self.latents, self.prior = latents, recipe.trained_prior
        self.scales: dict[str, Tensor] | None = None
        if recipe.rule == "held":
            self.scales = {name: scale_to_prior(latent, self.prior) for name, latent in latents.items()}

    def __call__(self, counts: Mapping[str, int]) -> dict[str, Tensor]:
        if self.scales is None:
            return {name: threshold_for(latent, counts[name]) for name, latent in self.latents.items()}
        return {
            name: scale * self.prior.magnitude_quantile(1 - counts[name] / self.latents[name].numel())
            for name, scale in self.scales.items()
        }
