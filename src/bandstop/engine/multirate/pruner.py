"""One training for every budget: the rate is drawn anew at each step, and any budget is extracted afterwards.

One set of latents serves all rates. A layer keeps its largest latents, and a larger rate keeps fewer in every
layer, so the masks are nested: what a rate keeps, every lower rate keeps too.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.attach.checks import check_rates
from bandstop.engine.attach.parametrisation import BandStop, PrunedLayer, nonzero
from bandstop.engine.attach.plain import make_replica_plain, refresh_recurrent
from bandstop.engine.multirate.batchnorm import recalibrate, running_norms
from bandstop.engine.multirate.conditioning import RatedBandStop, attach_shifts, move_to
from bandstop.engine.multirate.extraction import Extraction, by_live_paths, by_magnitude
from bandstop.engine.pause import telling
from bandstop.engine.pruner import Pruner
from bandstop.engine.recipe import Recipe
from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.engine.select.final_mask import live_masks
from bandstop.engine.select.topk import select, threshold_for
from bandstop.engine.trace import trace
from bandstop.errors import BudgetError, ConfigError
from bandstop.method.budget import Budget
from bandstop.method.gate import Hard
from bandstop.method.priors import Prior
from bandstop.method.schedules import Ramp
from bandstop.record.prune import MANY_RATES_FREEZE, MANY_RATES_RAMP

__all__ = ["MultiRatePruner", "many_rates_recipe"]


def many_rates_recipe(prior: Prior | None = None) -> Recipe:
    """The default recipe, changed where many rates share the latents.

    A hard gate leaves a weight its value at every rate that keeps it, where a soft one would shrink it by
    each rate's threshold. No gradient leaks to stopped weights: lower rates train them. The order of the
    connections is fixed earlier.
    """
    ramp = Ramp(0.0, 1.0, end=MANY_RATES_RAMP)
    return replace(Recipe.default(prior), gate=Hard(leak=0.0), ramp=ramp, freeze=MANY_RATES_FREEZE)


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
        low, high = check_rates(rates)
        if passes < 1:
            raise ConfigError(f"a step needs at least 1 pass, found {passes}")
        recipe = recipe or many_rates_recipe()
        if recipe.threshold != "empirical":
            raise ConfigError(
                "many rates at once need thresholds from the latents' own quantiles (threshold='empirical')"
            )
        if recipe.count != "exact":
            raise ConfigError('many rates at once have exact counts (count="exact")')
        if recipe.allocation == "adapted":
            raise ConfigError(
                'many rates at once need masks that are nested, which allocation="adapted" does not give: '
                'choose "lamp"'
            )
        self.rates, self.number, self.follow = (float(low), float(high)), passes, follow
        self.extracts_live = example is not None if recipe.live is None else recipe.live
        self.generator = torch.Generator().manual_seed(seed)
        self.at, self.settle = float(high), recipe.freeze
        self._order: dict[str, Tensor] | None = None
        self.top = float(high)
        self._shifts: list[tuple[nn.Module, str]] = []
        shared = replace(recipe, freeze=1.0, live=False)
        super().__init__(model, high, steps=steps, recipe=shared, layers=layers, example=example)
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

    def draw(self) -> float:
        """A rate of the range; the logarithm of the share that it keeps is spread evenly."""
        u = float(torch.rand((), generator=self.generator))
        fewest, most = math.log(1 - self.top), math.log(1 - self.rates[0])
        return 1 - math.exp(fewest + u * (most - fewest))

    def passes(self) -> Iterator[float]:
        """The rates of a step, the least pruned first; the network is turned to each before it is yielded.

        One pass: a drawn rate. Two: the lowest and a drawn one. More: the lowest, drawn ones, and the
        highest. ``top`` replaces the highest rate once masks are fixed; no extraction uses a higher one.
        """
        low, high = self.rates[0], self.top
        if self.number == 1:
            rates = [self.draw()]
        elif self.number == 2:
            rates = [low, self.draw()]
        else:
            rates = [low, *sorted(self.draw() for _ in range(self.number - 2)), high]
        for rate in rates:
            self._turn_to(rate)
            yield rate

    def step(self) -> None:
        """Call once after each optimiser step: moves the schedules and in time fixes the connections'
        order.
        """
        self.taken += 1
        self.remarks.after_step(self)
        if self._order is None and self.settle < 1 and self.progress >= self.settle:
            self._order = {name: latent.abs() for name, latent in self.layers.latents().items()}
            self.top = min(max(self._extraction(self.rates[1]).rate, self.rates[0]), self.rates[1])

    def _ranked(self) -> dict[str, Tensor]:
        """What masks are chosen by: the latents, or their magnitudes when the order was fixed."""
        return self.layers.latents() if self._order is None else self._order

    def position(self, rate: float) -> float:
        """Where a rate lies in the range, −1 to 1, evenly in the logarithm of the kept share.

        >>> pruner = MultiRatePruner(nn.Linear(8, 8), (0.0, 0.9375), steps=1)
        >>> [round(pruner.position(r), 3) for r in (0.0, 0.75, 0.9375)]
        [-1.0, 0.0, 1.0]
        """
        fewest, most = (math.log(1 - r) for r in reversed(self.rates))
        return 1 - 2 * (math.log(1 - rate) - fewest) / (most - fewest)

    def _bound_to(self, budget: Budget | float) -> BoundBudget:
        asked = budget if isinstance(budget, Budget) else Budget.rate(budget)
        if asked.kind != "macs":
            return replace(self.bound, budget=asked)
        return BoundBudget.of(self.model, self.layers.latents(), asked, self.recipe.floor, self.example)

    def _counts_at(self, budget: Budget | float, ramp: float) -> dict[str, int]:
        """Connections of each layer when ``ramp`` (0 … 1) of the pruning to ``budget`` applies."""
        return self._bound_to(budget).counts(ramp, self.thresholds.allocate, self.layers.latents())

    def _stretch(self, counts: Mapping[str, int], name: str) -> float | None:
        """The factor on a layer's gain when ``counts`` pass, where the recipe asks for one."""
        gain = self.thresholds.gain
        return None if gain is None else gain(counts[name] / self.bound.sizes[name])

    def _update(self) -> None:
        self._turn_to(self.at)

    @torch.no_grad()
    def _turn_to(self, rate: float) -> None:
        """Thresholds, gains and shifts for ``rate``, as far as the ramp applies it at present."""
        self.at = rate
        self.noted_counts = counts = self._counts_at(rate, self.recipe.ramp(self.progress))
        ranked, temperature = self._ranked(), self.recipe.temperature(self.progress)
        for layer in self.layers:
            assert layer.band is not None
            threshold = threshold_for(layer.free(ranked[layer.name]), counts[layer.name])
            layer.band.set_levels(threshold, temperature, self._stretch(counts, layer.name))
            if self._order is not None:
                layer.band.mask = ranked[layer.name] > threshold
        move_to(self.layers, self._shifts, self.position(rate))

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
        temperature, weights = self.recipe.temperature(1.0), {}
        move_to(layers, shifts, min(max(self.position(found.rate), -1.0), 1.0))
        for layer in layers:
            assert layer.band is not None
            mask, stretch = found.masks[layer.name], self._stretch(found.counts, layer.name)
            layer.band.set_levels(found.thresholds[layer.name], temperature, stretch)
            layer.band.mask = None if self._order is None else mask
            weights[id(layer.latent)] = nonzero(layer.band(layer.latent), mask)
        make_replica_plain(model, weights)
        if batches is not None:
            recalibrate(model, batches)
        return model.eval()

    def _extraction(self, budget: Budget | float) -> Extraction:
        counts, latents = self._counts_at(budget, 1.0), self._ranked()
        total, kept = self.bound.prunable, sum(counts.values())
        fewest, most = (round((1 - rate) * total) for rate in reversed(self.rates))
        if not fewest <= kept <= most:
            raise BudgetError(
                f"the training covered rates from {self.rates[0]} to {self.rates[1]}, {most:,} to {fewest:,} "
                f"connections of {total:,}; found a budget of {kept:,}: choose one between, or train with a "
                "wider range"
            )
        if not self.extracts_live:
            return by_magnitude(latents, counts)
        if isinstance(budget, Budget) and budget.kind == "macs":
            with telling(f"choosing the connections that stay, of {total:,}"):
                masks = live_masks(latents, counts, self._bound_to(budget), self.model, self.example)
            return replace(by_magnitude(latents, counts), masks=masks)
        return by_live_paths(
            latents, kept, lambda n: self._counts_at(Budget.weights(n), 1.0), self.model, self.example
        )

    def described(self, budget: Budget | float) -> dict[str, dict[str, float]]:
        """Threshold and gain of each layer as ``extract`` uses them."""
        found = self._extraction(budget)
        move_to(self.layers, self._shifts, min(max(self.position(found.rate), -1.0), 1.0))
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
            "generator": self.generator.get_state(),
            "order": self._order,
            "top": self.top,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from ``state_dict``; latents, gains and slopes are in the model's own state."""
        super().load_state_dict(state)
        self.generator.set_state(state["generator"])
        self._order, self.top = state["order"], float(state["top"])
