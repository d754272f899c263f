"""One training for every budget: the rate sweeps over a range, and any budget is extracted afterwards.

At each moment the network is trained for the rate of that moment, like any network for one rate; moving
averages of its parameters are kept on the way. A network for a rate is the average of the moment at which the
sweep passed it, with the threshold of exactly that rate.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.attach.checks import check_rates
from bandstop.engine.attach.layers import PrunedLayers
from bandstop.engine.attach.parametrisation import PrunedLayer, nonzero
from bandstop.engine.attach.plain import make_replica_plain, refresh_recurrent
from bandstop.engine.attach.prunable import Layers
from bandstop.engine.hold_prior import pull_one
from bandstop.engine.multirate.batchnorm import recalibrate, running_norms
from bandstop.engine.multirate.budgets import bound_to, check_covered, check_many_rates, check_sweep
from bandstop.engine.multirate.extraction import Extraction, by_live_paths, by_magnitude
from bandstop.engine.multirate.shared import SharedThresholds
from bandstop.engine.multirate.waypoints import Parameters, Waypoints
from bandstop.engine.pause import telling
from bandstop.engine.pruner import Pruner
from bandstop.engine.recipe import Recipe
from bandstop.engine.select.final_mask import live_masks
from bandstop.engine.select.topk import not_finite
from bandstop.engine.shards.tensor import is_sharded
from bandstop.engine.trace import trace
from bandstop.errors import ConfigError, DivergenceError
from bandstop.method.budget import Budget
from bandstop.method.schedules import Sweep
from bandstop.record.prune import SWEEP_AVERAGE, SWEEP_FROM, SWEEP_UNTIL, WAYPOINTS

__all__ = ["MultiRatePruner"]


class MultiRatePruner(Pruner):
    """Trains ``model`` for all pruning rates between the two of ``rates``, one after the other.

    The rate rises to the lowest until ``begin`` and from there to the highest until ``end``, shares of the
    training; parameters are averaged over the share ``average`` of it and kept at ``waypoints`` + 1 rates.
    The learning rate stays as it is to the end, at a third of what a training for one rate starts with: the
    averages do what its fall does there.

    >>> _ = torch.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    >>> pruner = MultiRatePruner(model, (0.5, 0.95), steps=40)
    >>> optimiser = torch.optim.Adam(pruner.parameter_groups(lr=1e-2))
    >>> for _ in range(40):
    ...     optimiser.zero_grad()
    ...     model(torch.randn(32, 8)).square().mean().backward()
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
        recipe: Recipe | None = None,
        layers: Layers = None,
        example: Any = None,
        begin: float = SWEEP_FROM,
        end: float = SWEEP_UNTIL,
        average: float = SWEEP_AVERAGE,
        waypoints: int = WAYPOINTS,
    ) -> None:
        self.rates = check_rates(rates)
        recipe = Recipe.of(recipe)
        check_many_rates(recipe)
        check_sweep(begin, end, average, waypoints)
        sweep = Sweep(*self.rates, begin=begin, end=end)
        self.waypoints = Waypoints(sweep, number=waypoints, share=average)
        self.extracts_live = example is not None if recipe.live is None else recipe.live
        swept = replace(recipe, ramp=sweep, freeze=1.0, live=False)
        super().__init__(model, self.rates[1], steps=steps, recipe=swept, layers=layers, example=example)
        if self.extracts_live:
            trace(model, example, self.layers.latents())
        self._last: tuple[int, Budget, Extraction] | None = None

    def step(self) -> None:
        """Call once after each optimiser step: moves the sweep, renews thresholds, keeps averages."""
        super().step()
        every = self.recipe.every
        if self.taken % every == 0 or self.taken == self.steps:
            self.waypoints.follow(self._parameters(), self.progress, every / self.steps)

    def _parameters(self) -> Parameters:
        if any(map(is_sharded, self.layers.latents().values())):
            raise ConfigError(
                "networks for many rates are extracted from whole weights, found sharded ones: train with "
                "DistributedDataParallel, or for one rate with bandstop.Pruner"
            )
        return {name: value.detach() for name, value in self.model.named_parameters()}

    @torch.no_grad()
    def masks(self, budget: Budget | float) -> dict[str, Tensor]:
        """The connections that ``extract`` keeps of each layer."""
        return self._extraction(budget)[0].masks

    @torch.no_grad()
    def extract(self, budget: Budget | float, batches: Iterable[Any] | None = None) -> nn.Module:
        """A plain copy of the model with exactly the connections of ``budget``, in evaluation mode.

        Nothing is retrained. The running statistics of batch normalisation are those of the end of the
        sweep, so they are measured anew on ``batches``, inputs of the training set, which a network with such
        layers needs.
        """
        if batches is None and running_norms(self.model):
            raise ConfigError(
                "the model has batch normalisation, whose running statistics differ from rate to rate: give "
                "extract(…, batches=…), some batches of training inputs to measure them on"
            )
        found, model, layers = self._at(budget)
        weights = {}
        for layer in layers:
            assert layer.band is not None
            weights[id(layer.latent)] = nonzero(layer.band(layer.latent), found.masks[layer.name])
        make_replica_plain(model, weights)
        if batches is not None:
            recalibrate(model, batches)
        return model.eval()

    @torch.no_grad()
    def described(self, budget: Budget | float) -> dict[str, dict[str, float]]:
        """Threshold and gain of each layer as ``extract`` uses them."""
        layers = self._at(budget)[2]
        bands = {layer.name: layer.band for layer in layers if layer.band is not None}
        return {
            name: {"threshold": float(band.latent_threshold()), "gain": float(band.gain)}
            for name, band in bands.items()
        }

    def finalize(self, batches: Iterable[Any] | None = None) -> nn.Module:
        """The highest rate, extracted; the pruner and its latents stay as they are."""
        return self.extract(self.rates[1], batches)

    def _at(self, budget: Budget | float) -> tuple[Extraction, nn.Module, PrunedLayers]:
        """What is extracted, and a copy of the gated model with the parameters and levels of that rate."""
        self.layers.require_attached()
        found, values = self._extraction(budget)
        refresh_recurrent(self.model)  # what a forward pass left there could not be copied
        model, layers = copy.deepcopy((self.model, self.layers))
        for name, parameter in model.named_parameters():
            parameter.copy_(values[name])
        for layer in layers:
            self._set_levels(layer, found)
        return found, model, layers

    def _set_levels(self, layer: PrunedLayer, found: Extraction) -> None:
        band, density = layer.band, found.counts[layer.name] / self.bound.sizes[layer.name]
        assert band is not None
        stretch = None if self.thresholds.gain is None else self.thresholds.gain(density)
        band.set_levels(found.thresholds[layer.name], self.recipe.temperature(1.0), stretch)
        if band.charted:
            assert found.scales is not None and self.thresholds.passing is not None
            spread = float(found.scales[layer.name])
            band.set_chart(spread, spread * self.thresholds.passing(density), self.bound.sizes[layer.name])

    def _extraction(self, budget: Budget | float) -> tuple[Extraction, Parameters]:
        """The connections of ``budget``, and the parameters of the rate that this is."""
        asked = Budget.of(budget)
        bound = bound_to(self.bound, asked, self.model, self.layers.latents(), self.example)
        kept = sum(bound.counts(1.0, self.thresholds.allocate, self.layers.latents()).values())
        check_covered(self.rates, self.bound.prunable, kept)
        rate = 1 - kept / self.bound.prunable
        self._remark(rate)
        values = self._values(rate)
        if self._last is None or self._last[:2] != (self.taken, asked):
            self._last = self.taken, asked, self._found(asked, self._latents(values))
        return self._last[2], values

    def _values(self, rate: float) -> Parameters:
        """The parameters of a rate; what averaging moved held latents off the prior is taken back."""
        values = self.waypoints.at(rate) or self._parameters()
        latents = self._latents(values)
        if diverged := not_finite(latents):
            raise DivergenceError(f"layer {diverged[0]}")
        if self.recipe.rule == "held":
            names = {id(latent): name for name, latent in values.items()}
            for layer in self.layers:
                held = latents[layer.name].clone()
                pull_one(layer, held, self.recipe.trained_prior, 1.0)
                values[names[id(latents[layer.name])]] = held
        return values

    def _remark(self, rate: float) -> None:
        at_top = rate > self.waypoints.rates[-2] and len(self.waypoints.found) < len(self.waypoints.rates)
        if at_top or rate > self.waypoints.reached + 0.5 / self.bound.prunable:
            self.remarks.once(
                "end",
                f"extracted a rate of {rate:.4g} after {self.taken:,} of {self.steps:,} steps, before the "
                "training had come to it: the network was not trained to do without so many connections",
            )

    def _latents(self, values: Parameters) -> dict[str, Tensor]:
        names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        return {layer.name: values[names[id(layer.latent)]] for layer in self.layers}

    def _found(self, budget: Budget, latents: dict[str, Tensor]) -> Extraction:
        bound = bound_to(self.bound, budget, self.model, latents, self.example)
        counts = bound.counts(1.0, self.thresholds.allocate, latents)
        shared = SharedThresholds(
            {layer.name: layer.free(latents[layer.name]) for layer in self.layers}, self.recipe
        )
        if not self.extracts_live:
            return by_magnitude(latents, counts, shared)
        if budget.kind == "macs":
            with telling(f"choosing the connections that stay, of {self.bound.prunable:,}"):
                masks = live_masks(latents, counts, bound, self.model, self.example)
            return replace(by_magnitude(latents, counts, shared), masks=masks)

        def split(total: int) -> dict[str, int]:
            weights = replace(self.bound, budget=Budget.weights(total))
            return weights.counts(1.0, self.thresholds.allocate, latents)

        return by_live_paths(latents, sum(counts.values()), split, shared, self.model, self.example)

    def state_dict(self) -> dict[str, Any]:
        """Where the schedules stand, and the averages."""
        return {**super().state_dict(), "waypoints": self.waypoints.state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from ``state_dict``; latents and gains are in the model's own state."""
        super().load_state_dict(state)
        self.waypoints.load(state.get("waypoints"))
        self._last = None
