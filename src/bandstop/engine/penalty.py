"""What the pruner adds to the loss: ``λ·KL(P‖Q)`` and, where a dual variable steers the rate, ``μ·D``."""

from __future__ import annotations

from torch import Tensor

from bandstop.engine.attach.layers import PrunedLayers
from bandstop.engine.compared import compared
from bandstop.engine.rate_dual import RateDual
from bandstop.engine.recipe import Recipe
from bandstop.engine.shards.tensor import Shards, local
from bandstop.method.histogram.kl import Bins, kl_to_prior

__all__ = ["Penalty"]


class Penalty:
    """The penalty on the latents of ``layers``; ``added`` says whether a loss has ever contained it.

    >>> import torch
    >>> from bandstop import Pruner
    >>> from bandstop.method.schedules import Constant
    >>> pruner = Pruner(torch.nn.Linear(20, 20), 0.5, steps=9, recipe=Recipe(kl=Constant(2.0)))
    >>> penalty = Penalty(pruner.recipe, pruner.layers)
    >>> bool(penalty(2.0) == 2 * penalty.divergence()), penalty.added
    (True, False)
    >>> penalty(2.0).backward()
    >>> penalty.added
    True
    """

    def __init__(self, recipe: Recipe, layers: PrunedLayers) -> None:
        self.recipe, self.layers = recipe, layers
        self.bins = Bins(limit=recipe.prior.support(), count=recipe.bins)
        self.dual = RateDual(recipe.dual, recipe.dual_damping) if recipe.dual else None
        self.added = False

    def divergence(self) -> Tensor:
        """``KL(P‖Q)`` of the latent weights, pooled or averaged over layers."""
        shards = Shards.of(self.layers.latents())
        values = [layer.free(local(layer.latent)) for layer in self.layers]
        pooled, reduce = self.recipe.histogram == "pooled", None if shards is None else shards.sum
        values, prior, bins = compared(values, self.recipe, self.bins, shards)
        return kl_to_prior(values, prior, bins, pooled=pooled, reduce=reduce)

    def __call__(self, weight: float) -> Tensor:
        """``λ·KL(P‖Q) + μ·D`` with λ = ``weight``."""
        penalty = weight * self.divergence() if weight else self.none()
        if self.dual is not None:
            latents = {layer.name: layer.free(layer.latent) for layer in self.layers}
            penalty = penalty + self.dual.penalty(latents, self.layers.thresholds())
        if penalty.requires_grad and not self.added:
            penalty.register_hook(self._note)  # type: ignore[no-untyped-call]
        return penalty

    def none(self) -> Tensor:
        """Nothing, on the device of the latents."""
        band = self.layers[0].band
        like = self.layers[0].latent if band is None else band._buffers["threshold"]
        assert like is not None
        return like.new_zeros(())

    def _note(self, _: Tensor) -> None:
        self.added = True
