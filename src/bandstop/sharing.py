"""How many connections each layer keeps at a moment of training, and which of them when only live ones count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from bandstop.allocation import PooledOrder, allocate, lamp_scores
from bandstop.magnitude import prior_magnitudes, relative_ranks, topped_up
from bandstop.recipe import Recipe
from bandstop.selection import live_selection
from bandstop.target import Target

__all__ = ["Sharing", "choose_live"]


class Sharing:
    """A recipe's allocation rule bound to a target."""

    def __init__(self, recipe: Recipe, target: Target) -> None:
        self.recipe, self.target = recipe, target
        self.lamp: PooledOrder | None = None
        if (
            recipe.allocation == "lamp"
        ):  # on the prior's own quantiles: needs no data, so the order is fixed from the start
            shapes = [prior_magnitudes(recipe.prior, n) for n in target.sizes.values()]
            self.lamp = PooledOrder([lamp_scores(m) for m in shapes], recipe.floor)

    def __call__(self, share: float, latents: Mapping[str, Tensor]) -> dict[str, int]:
        """Connections per layer when ``share`` (0 … 1) of the final pruning applies."""
        return self.target.counts(share, lambda total: self._allocate(total, latents))

    def _allocate(self, total: int, latents: Mapping[str, Tensor]) -> dict[str, int]:
        if self.lamp is not None:
            return dict(zip(self.target.sizes, self.lamp.counts(total), strict=True))
        recipe = self.recipe
        return allocate(recipe.allocation, total, latents, floor=recipe.floor, given=dict(recipe.densities))


def choose_live(
    latents: Mapping[str, Tensor], counts: Mapping[str, int], target: Target, model: nn.Module, example: Any
) -> dict[str, Tensor]:
    """Masks of as many live connections as ``counts`` add up to, each layer's largest magnitudes first.

    Where so many cannot be live at once the rest are the best of the others; a budget in MACs is met from below instead.
    """
    scores = {name: relative_ranks(latent, counts[name]) for name, latent in latents.items()}
    total = sum(counts.values())
    found = live_selection(scores, total, model, example)
    if target.budget.kind != "macs":
        return found.masks if found.exact else topped_up(found.masks, scores, total)
    low, best = 1, found.masks
    high = total if target.macs(best) > target.budget.amount else 0
    while low < high:
        middle = (low + high) // 2
        masks = live_selection(scores, middle, model, example).masks
        if target.macs(masks) <= target.budget.amount:
            low, best = middle + 1, masks
        else:
            high = middle
    return best
