"""One training for every budget: the rate is drawn anew at each step, and any budget is extracted afterwards.

One set of latents serves all rates. A layer keeps its largest latents, and a larger rate keeps fewer in every
layer, so the masks are nested: what a rate keeps, every lower rate keeps too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.attach.charted import ChartedBandStop
from bandstop.engine.attach.parametrisation import BandStop, PrunedLayer, nonzero
from bandstop.engine.attach.plain import make_replica_plain, refresh_recurrent
from bandstop.engine.hold_prior import pull_to_prior
from bandstop.engine.multirate.batchnorm import recalibrate, running_norms
from bandstop.engine.multirate.budgets import bound_to, check_covered
from bandstop.engine.multirate.conditioning import RatedBandStop, attach_shifts, move_to
from bandstop.engine.multirate.extraction import Extraction, by_live_paths, by_magnitude
from bandstop.engine.multirate.rates import RateRange
from bandstop.engine.multirate.recipes import check_many_rates, many_rates_recipe
from bandstop.engine.multirate.shared import SharedThresholds
from bandstop.engine.pause import telling
from bandstop.engine.pruner import Pruner
from bandstop.engine.recipe import Recipe
from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.engine.select.final_mask import live_masks
from bandstop.engine.select.topk import select
from bandstop.engine.trace import trace
from bandstop.errors import ConfigError
from bandstop.method.budget import Budget

__all__ = ["MultiRatePruner"]


class MultiRatePruner(Pruner):
    """Trains ``model`` for all pruning rates between the two of ``rates`` at once.

    A training step has one pass or more, each at its own rate.

    >>> _ = torch.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    >>> pruner = MultiRatePruner(model, (0.5, 0.95), steps=20)
    >>> optimiser = torch.optim.Adam(pruner.parameter_groups(lr=1e-2))
    >>> for _ in range(20):
    ...     optimiser.zero_grad()
    ...     for rate in pruner.passes():
    ...         model(torch.randn(32, 8)).square().mean().backward()
    ...     optimiser.step()
    ...     pruner.step()
    >>> nets = [pruner.extract(rate) for rate in (0.5, 0.75, 0.9)]
    >>> [int(net[0].weight.count_nonzero() + net[2].weight.count_nonzero()) for net in nets]
    [96, 48, 19]
    """

    def __init__(
        self,
        model: nn.Module,
        rates: tuple[float, float],
        *,
        steps: int,
        passes: int = 3,
        recipe: Recipe | None = None,
        layers: Iterable[str] | Callable[[str, nn.Parameter], bool] | None = None,
        example: Any = None,
        follow: bool = False,
        seed: int = 0,
    ) -> None:
        self.span = RateRange(rates, passes=passes, seed=seed)
        recipe = recipe or many_rates_recipe()
        check_many_rates(recipe, follow=follow)
        self.rates, self.number, self.follow = (self.span.low, self.span.high), passes, follow
        self.extracts_live = example is not None if recipe.live is None else recipe.live
        self.at, self.settle = self.span.high, recipe.freeze
        self._order: dict[str, Tensor] | None = None
        self._settled: SharedThresholds | None = None
        self._shifts: list[tuple[nn.Module, str]] = []
        shared = replace(recipe, freeze=1.0, live=False)
        super().__init__(model, self.span.high, steps=steps, recipe=shared, layers=layers, example=example)
        if self.extracts_live:
            trace(model, example, self.layers.latents())
        if follow:
            self._shifts = attach_shifts(model)
        self._turn_to(self.at)

    def _band(self, layer: PrunedLayer) -> tuple[BandStop, Tensor]:
        band, latent = super()._band(layer)
        if not self.follow:
            return band, latent
        return RatedBandStop(band.gate, band.gain.detach(), learn_gain=self.recipe.gain == "learned"), latent

    @property
    def rate(self) -> float:
        """The highest rate that applies at present."""
        return 1 - self.kept / self.bound.prunable

    @property
    def kept(self) -> int:
        """Connections kept at the highest rate that applies at present."""
        return sum(self._counts_at(self.rates[1], self.recipe.ramp(self.progress)).values())

    @property
    def settled(self) -> bool:
        """Whether the order of the connections, and with it every mask, is fixed."""
        return self._order is not None

    def passes(self) -> Iterator[float]:
        """The rates of a step, the least pruned first; the network is turned to each before it is yielded.

        See ``RateRange.of_step``. Its ``top`` replaces the highest rate once masks are fixed; no extraction
        uses a higher one.
        """
        shared = self._shared()
        for rate in self.span.of_step():
            self._turn_to(rate, shared)
            yield rate

    def step(self) -> None:
        """Call once after each optimiser step: moves schedules, holds latents, in time fixes the order."""
        self.taken += 1
        self.remarks.after_step(self)
        if self._order is not None:
            return
        settles = self.settle < 1 and self.progress >= self.settle
        if settles or self.recipe.renews(self.taken, self.progress):
            self._hold(1.0 if settles else self.recipe.hold(self.progress))
        if settles:
            self._fix_order()

    def _hold(self, fraction: float) -> None:
        """All the way when the order is fixed: from then on every rate is a quantile of these latents."""
        if self.recipe.threshold == "held":
            pull_to_prior(self.layers, self.recipe.trained_prior, fraction)

    @torch.no_grad()
    def _fix_order(self) -> None:
        """From here on masks are chosen by the magnitudes of this moment, and the weights train freely."""
        self._order = {name: latent.abs() for name, latent in self.layers.latents().items()}
        self._settled = self._shared()
        for layer in self.layers:
            if isinstance(layer.band, ChartedBandStop):  # from now on the latents themselves are trained
                layer.latent.copy_(layer.band.latent_of(layer.latent))
                layer.band.open()
        found = self._extraction(self.rates[1])
        self.span.top = min(max(found.rate, self.rates[0]), self.rates[1])

    def _ranked(self) -> dict[str, Tensor]:
        """What masks are chosen by: the latents, or their magnitudes when the order was fixed."""
        return self.layers.latents() if self._order is None else self._order

    def _shared(self) -> SharedThresholds:
        """Thresholds of the latents as they are now, or as they were when their order was fixed."""
        if self._settled is not None:
            return self._settled
        ranked = self._ranked()
        free = {layer.name: layer.free(ranked[layer.name]) for layer in self.layers}
        return SharedThresholds(free, self.recipe)

    def _counts_at(self, budget: Budget | float, ramp: float) -> dict[str, int]:
        """Connections of each layer when ``ramp`` (0 … 1) of the pruning to ``budget`` applies."""
        return self._bound_to(budget).counts(ramp, self.thresholds.allocate, self.layers.latents())

    def _split(self, total: int) -> dict[str, int]:
        return self._counts_at(Budget.weights(total), 1.0)

    def _bound_to(self, budget: Budget | float) -> BoundBudget:
        return bound_to(self.bound, budget, self.model, self.layers.latents(), self.example)

    def _stretch(self, counts: Mapping[str, int], name: str) -> float | None:
        """The factor on a layer's gain when ``counts`` pass, where the recipe asks for one."""
        gain = self.thresholds.gain
        return None if gain is None else gain(counts[name] / self.bound.sizes[name])

    def _update(self) -> None:
        self._turn_to(self.at)

    @torch.no_grad()
    def _turn_to(self, rate: float, shared: SharedThresholds | None = None) -> None:
        """Thresholds, gains and shifts for ``rate``, as far as the ramp applies it at present."""
        self.at, shared = rate, shared or self._shared()
        self.noted_counts = counts = self._counts_at(rate, self.recipe.ramp(self.progress))
        self._set_bands(self.layers, shared, counts, self.progress)
        if self._order is not None:
            for layer in self.layers:
                assert layer.band is not None
                layer.band.mask = self._order[layer.name] > layer.band.threshold
        move_to(self.layers, self._shifts, self.span.position(rate))

    def _set_bands(
        self,
        layers: Iterable[PrunedLayer],
        shared: SharedThresholds,
        counts: Mapping[str, int],
        progress: float,
    ) -> None:
        """Levels of ``layers`` when ``counts`` of the latents pass.

        In gaussian coordinates the prior's scale is that of the lowest rate at every rate, so that a weight
        has one value wherever it is kept.
        """
        thresholds, temperature = shared(counts), self.recipe.temperature(progress)
        most = self._counts_at(self.rates[0], self.recipe.ramp(progress)) if self.recipe.charted else {}
        for layer in layers:
            assert layer.band is not None
            layer.band.set_levels(thresholds[layer.name], temperature, self._stretch(counts, layer.name))
            if isinstance(layer.band, ChartedBandStop) and self._order is None:
                assert shared.scales is not None and self.thresholds.passing is not None
                spread = shared.scales[layer.name]
                density = most[layer.name] / self.bound.sizes[layer.name]
                layer.band.set_chart(float(spread), float(spread) * self.thresholds.passing(density))

    @torch.no_grad()
    def masks(self, budget: Budget | float) -> dict[str, Tensor]:
        """Masks at ``budget``: each layer's largest latents. Masks of different budgets are nested."""
        counts = self._counts_at(budget, 1.0)
        return {name: select(latent.abs(), counts[name]) for name, latent in self._ranked().items()}

    @torch.no_grad()
    def extract(self, budget: Budget | float, batches: Iterable[Any] | None = None) -> nn.Module:
        """A plain copy of the model with exactly the connections of ``budget``, in evaluation mode.

        Nothing is retrained. The running statistics of batch normalisation belong to one rate, so they are
        measured anew on ``batches``, inputs of the training set, which a network with such layers needs.
        """
        if batches is None and running_norms(self.model):
            raise ConfigError(
                "the model has batch normalisation, whose running statistics differ from rate to rate: give "
                "extract(…, batches=…), some batches of training inputs to measure them on"
            )
        found = self._extraction(budget)
        refresh_recurrent(self.model)  # what a forward pass left there could not be copied
        model, layers, shifts = copy.deepcopy((self.model, self.layers, self._shifts))
        weights = {}
        move_to(layers, shifts, self._position(found))
        self._set_bands(layers, self._shared(), found.counts, 1.0)
        for layer in layers:
            assert layer.band is not None
            mask = found.masks[layer.name]
            layer.band.mask = None if self._order is None else mask
            weights[id(layer.latent)] = nonzero(layer.band(layer.latent), mask)
        make_replica_plain(model, weights)
        if batches is not None:
            recalibrate(model, batches)
        return model.eval()

    def _position(self, found: Extraction) -> float:
        return min(max(self.span.position(found.rate), -1.0), 1.0)

    def _extraction(self, budget: Budget | float) -> Extraction:
        counts, latents = self._counts_at(budget, 1.0), self._ranked()
        check_covered(self.rates, self.bound.prunable, sum(counts.values()))
        shared = self._shared()
        if not self.extracts_live:
            return by_magnitude(latents, counts, shared)
        if isinstance(budget, Budget) and budget.kind == "macs":
            with telling(f"choosing the connections that stay, of {self.bound.prunable:,}"):
                masks = live_masks(latents, counts, self._bound_to(budget), self.model, self.example)
            return replace(by_magnitude(latents, counts, shared), masks=masks)
        kept = sum(counts.values())
        return by_live_paths(latents, kept, self._split, shared, self.model, self.example)

    def described(self, budget: Budget | float) -> dict[str, dict[str, float]]:
        """Threshold and gain of each layer as ``extract`` uses them."""
        found = self._extraction(budget)
        move_to(self.layers, self._shifts, self._position(found))
        rows = {}
        for layer in self.layers:
            assert layer.band is not None
            if (stretch := self._stretch(found.counts, layer.name)) is not None:
                layer.band.stretch.fill_(stretch)
            gain = float(layer.band.gain.detach())
            rows[layer.name] = {"threshold": float(found.thresholds[layer.name]), "gain": gain}
        return rows

    def finalize(self, batches: Iterable[Any] | None = None) -> nn.Module:
        """The highest rate, extracted; the pruner and its latents stay as they are."""
        return self.extract(self.rates[1], batches)

    def state_dict(self) -> dict[str, Any]:
        """Where the schedules and the draws stand."""
        return {
            **super().state_dict(),
            "generator": self.span.generator.get_state(),
            "order": self._order,
            "top": self.span.top,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from ``state_dict``; latents, gains and slopes are in the model's own state."""
        super().load_state_dict(state)
        self.span.generator.set_state(state["generator"])
        self._order, self.span.top, self._settled = state["order"], float(state["top"]), None
        if self._order is not None:
            self._settled = self._shared()
