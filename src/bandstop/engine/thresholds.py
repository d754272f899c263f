"""Thresholds and gains of all layers at a moment of training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from bandstop.engine.hold_prior import quantile
from bandstop.engine.planned import PlannedBudget, Sure
from bandstop.engine.recipe import Recipe
from bandstop.engine.select.adapted import AdaptedAllocation
from bandstop.engine.select.allocation import Allocate, LampAllocation, allocate
from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.engine.select.last_threshold import LastThreshold
from bandstop.engine.select.topk import count_above, pooled_thresholds, thresholds_for
from bandstop.engine.shards.tensor import is_sharded
from bandstop.method.chart import PassingScale
from bandstop.method.gain import VarianceGain
from bandstop.method.transport import scale_to_prior

__all__ = ["Aims", "Levels", "Thresholds"]


@dataclass(frozen=True)
class Levels:
    """Each layer's threshold, the number of connections that exceed it and the factor on its gain.

    Counts are None if reading them would synchronise the device, gains if the recipe leaves gains alone.
    """

    thresholds: dict[str, Tensor]
    counts: dict[str, int] | None
    gains: dict[str, float] | None


@dataclass(frozen=True)
class Aims:
    """Of each layer: F⁻¹ of its rate, the factor on its gain, and the prior's scale in spreads."""

    quantiles: dict[str, float]
    gains: dict[str, float] | None
    scales: dict[str, float] | None


class Thresholds:
    """A recipe's thresholds for a budget bound to a network.

    >>> from bandstop.method.budget import Budget
    >>> bound = BoundBudget(Budget.rate(0.5), {"a": 4}, unpruned=0, floor=1, uses={})
    >>> levels = Thresholds(Recipe.empirical(), bound).at(1.0, {"a": torch.tensor([4.0, -3.0, 2.0, 1.0])})
    >>> levels.thresholds, levels.counts
    ({'a': tensor(2.)}, {'a': 2})
    """

    def __init__(self, recipe: Recipe, bound: BoundBudget) -> None:
        self.recipe, self.bound = recipe, bound
        self.allocate: Allocate
        if recipe.allocation == "lamp":  # on the prior's own quantiles: needs no data
            self.allocate = LampAllocation(recipe.prior, bound.sizes, recipe.floor)
        elif recipe.allocation == "adapted":
            self.allocate = AdaptedAllocation(recipe.prior, bound.sizes, recipe.floor)
        else:
            given = dict(recipe.densities)
            # Under one prior as many pass everywhere, so held layers that compete have one density.
            competing = recipe.rule == "held" and recipe.allocation == "learned"
            rule = "uniform" if competing else recipe.allocation
            self.allocate = partial(
                allocate, rule, floor=recipe.floor, given=given, stacked=bound.stacked, free=bound.sizes
            )
        self.gain = VarianceGain(recipe.trained_prior, recipe.gate) if recipe.gain == "variance" else None
        self.passing = PassingScale(recipe.prior, recipe.gate) if recipe.charted else None
        self.spreads: dict[str, Tensor] = {}
        self.last: defaultdict[str, LastThreshold] = defaultdict(LastThreshold)
        self._aims: tuple[float, Aims] | None = None

    def counts(self, ramp: float, latents: Mapping[str, Tensor]) -> dict[str, int]:
        """Connections per layer when ``ramp`` (0 … 1) of the final pruning applies."""
        return self.bound.counts(ramp, self.allocate, latents)

    def planned(self, latents: Mapping[str, Tensor], *, live: bool) -> PlannedBudget:
        """Connections per layer in the end, and what of it the training keeps to."""
        sure, reason = self._sure(live)
        return PlannedBudget(self.counts(1.0, latents), dict(self.bound.sizes), sure, reason)

    def _sure(self, live: bool) -> tuple[Sure, str]:
        if self.recipe.count == "passing":
            return "nothing", "whatever passes the threshold stays, and nothing is counted"
        if self.bound.budget.kind == "macs":
            return "nothing", "the budget is in MACs, and connections of one layer differ in their cost"
        if self.recipe.allocation == "learned":
            return "total", "since they compete for it while they learn"
        return ("total", "since a connection that leads nowhere is replaced") if live else ("layers", "")

    def at(
        self, ramp: float, latents: Mapping[str, Tensor], scales: Mapping[str, Tensor] | None = None
    ) -> Levels:
        """The levels when ``ramp`` (0 … 1) of the final pruning applies; ``scales`` where latents are held:
        those of the prior in each layer.
        """
        in_macs, compete = self.bound.budget.kind == "macs", self.recipe.allocation == "learned"
        if self.recipe.rule == "held":
            return self._held(ramp, latents, scales)
        if self.recipe.rule == "prior":  # the prior's quantile only aims at the budget
            total = sum(self.counts(ramp, latents).values()) if in_macs else self.bound.total(ramp)
            common = torch.tensor(self.recipe.prior.magnitude_quantile(1 - total / self.bound.prunable))
            return self._levels(ramp, latents, dict.fromkeys(latents, common), None)
        if compete and not in_macs:
            thresholds = pooled_thresholds(latents, self.bound.total(ramp), self.recipe.floor)
            return self._levels(ramp, latents, thresholds, None)
        counts = self.counts(ramp, latents)
        return self._levels(ramp, latents, thresholds_for(latents, counts, self.last), counts)

    def chart(self, name: str) -> tuple[float, float] | tuple[Tensor, Tensor]:
        """Spread of a layer's trained numbers and scale of its prior, as of the last levels."""
        assert self._aims is not None and self._aims[1].scales is not None
        spread, ratio = self.spreads[name], self._aims[1].scales[name]
        if spread.device.type != "cpu":  # to read the number would mean to wait for the device
            return spread, spread * ratio
        return float(spread), float(spread) * ratio

    def aims(self, ramp: float, latents: Callable[[], Mapping[str, Tensor]]) -> Aims:
        """What held layers aim at when ``ramp`` (0 … 1) of the final pruning applies.

        They are the same object while nothing changes: after the ramp, unless layers take from each other.
        """
        if self._aims is not None and self._aims[0] == ramp and self.recipe.allocation != "adapted":
            return self._aims[1]
        counts, prior = self.counts(ramp, latents()), self.recipe.trained_prior
        densities = {name: count / self.bound.sizes[name] for name, count in counts.items()}
        found = Aims(
            {name: quantile(prior, 1 - density) for name, density in densities.items()},
            None if self.gain is None else {name: self.gain(d) for name, d in densities.items()},
            None if self.passing is None else {name: self.passing(d) for name, d in densities.items()},
        )
        self._aims = ramp, found
        return found

    def _held(
        self, ramp: float, latents: Mapping[str, Tensor], scales: Mapping[str, Tensor] | None
    ) -> Levels:
        """The prior's quantiles; how many really pass is counted when somebody asks, or by all ranks now."""
        aims, prior = self.aims(ramp, lambda: latents), self.recipe.trained_prior
        self.spreads = dict(scales or {name: scale_to_prior(latents[name], prior) for name in latents})
        thresholds = {name: spread * aims.quantiles[name] for name, spread in self.spreads.items()}
        sharded = any(map(is_sharded, latents.values()))
        return Levels(thresholds, count_above(latents, thresholds) if sharded else None, aims.gains)

    def _levels(
        self,
        ramp: float,
        latents: Mapping[str, Tensor],
        thresholds: dict[str, Tensor],
        counts: dict[str, int] | None,
    ) -> Levels:
        """Counts where ranks must count together, and gains by density.

        The density is each layer's own; the network's where only the device knows the layers' counts.
        """
        sharded = any(map(is_sharded, latents.values()))
        common = counts is None and self.bound.budget.kind != "macs"
        if counts is None and (sharded or (self.gain is not None and not common)):
            counts = count_above(latents, thresholds)
        if self.gain is None:
            return Levels(thresholds, counts, None)
        if common:
            gain = self.gain(self.bound.total(ramp) / self.bound.prunable)
            return Levels(thresholds, counts, dict.fromkeys(latents, gain))
        assert counts is not None
        sizes = self.bound.sizes
        return Levels(thresholds, counts, {n: self.gain(counts[n] / sizes[n]) for n in latents})
