"""How many connections each layer keeps at a moment of training, and the thresholds that let so many pass."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from bandstop.engine.recipe import Recipe
from bandstop.engine.select import topk_sharded as choosing
from bandstop.engine.select.allocation import allocate
from bandstop.engine.select.bound_budget import Target
from bandstop.engine.select.lamp_order import LampOrder
from bandstop.engine.select.topk import cut_value
from bandstop.engine.select.topk_sharded import count_above, cut_values
from bandstop.engine.shards.tensor import Shards, is_sharded

__all__ = ["Sharing", "pooled_cuts"]


class Sharing:
    """A recipe's allocation rule bound to a target."""

    def __init__(self, recipe: Recipe, target: Target) -> None:
        self.recipe, self.target = recipe, target
        # On the prior's own quantiles: needs no data, so the order is fixed from the start.
        lamp = recipe.allocation == "lamp"
        self.lamp = LampOrder(recipe.prior, list(target.sizes.values()), recipe.floor) if lamp else None

    def __call__(self, share: float, latents: Mapping[str, Tensor]) -> dict[str, int]:
        """Connections per layer when ``share`` (0 … 1) of the final pruning applies."""
        return self.target.counts(share, lambda total: self._allocate(total, latents))

    def thresholds(
        self, share: float, latents: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, int] | None]:
        """The thresholds at ``share``, and the counts that they let pass, or none where only the device knows them (ranks count together)."""
        in_macs, sharded = self.target.budget.kind == "macs", any(map(is_sharded, latents.values()))
        if self.recipe.threshold == "prior":  # the prior's quantile only aims at the budget
            total = sum(self(share, latents).values()) if in_macs else self.target.total(share)
            cut = torch.tensor(self.recipe.prior.magnitude_quantile(1 - total / self.target.prunable))
            cuts = dict.fromkeys(latents, cut)
            return cuts, count_above(latents, cuts) if sharded else None
        if self.recipe.allocation == "learned" and not in_macs:
            cuts = pooled_cuts(latents, self.target.total(share), self.recipe.floor)
            return cuts, count_above(latents, cuts) if sharded else None
        counts = self(share, latents)
        return cut_values(latents, counts), counts

    def _allocate(self, total: int, latents: Mapping[str, Tensor]) -> dict[str, int]:
        if self.lamp is not None:
            return dict(zip(self.target.sizes, self.lamp.counts(total), strict=True))
        recipe = self.recipe
        given, stacked = dict(recipe.densities), self.target.stacked
        return allocate(recipe.allocation, total, latents, floor=recipe.floor, given=given, stacked=stacked)


def pooled_cuts(latents: Mapping[str, Tensor], total: int, floor: int) -> dict[str, Tensor]:
    """The one threshold that ``total`` magnitudes of all layers exceed, lower where a layer would keep fewer than ``floor``.

    Nothing leaves the device: a training step on a GPU need not wait for it.

    >>> pooled_cuts({"a": torch.tensor([3.0, 2.5]), "b": torch.tensor([-2.0, 0.5, 0.4])}, 3, 1)
    {'a': tensor(0.5000), 'b': tensor(0.5000)}
    >>> pooled_cuts({"a": torch.tensor([3.0, 2.5]), "b": torch.tensor([-2.0, 0.5, 0.4])}, 2, 1)
    {'a': tensor(2.5000), 'b': tensor(0.5000)}
    """
    if (shards := Shards.of(latents)) is not None:
        return choosing.pooled_cuts(shards, total, floor)
    rest, floors, left = [], [], total
    for latent in latents.values():
        magnitude = latent.abs().flatten()
        held = min(floor, magnitude.numel())
        floors.append(cut_value(latent, held))
        rest.append(magnitude.float())
        if held:  # those that pass in any case do not compete
            rest[-1] = rest[-1].index_fill(0, magnitude.topk(held).indices, 0.0)
        left -= held
    limit = cut_value(torch.cat(rest), left)
    return {
        name: torch.minimum(limit.to(latent.dtype), lowest)
        for (name, latent), lowest in zip(latents.items(), floors, strict=True)
    }
