"""The engine: attach to a network, add the penalty to the loss, step after the optimiser, finalize to exact zeros."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.attach.groups import optimiser_groups
from bandstop.engine.attach.latents import first_latent
from bandstop.engine.attach.parametrisation import BandStop, PrunedLayer, nonzero, prunable_layers
from bandstop.engine.attach.prunable import Layers
from bandstop.engine.recipe import Recipe
from bandstop.engine.select.bound_budget import Target
from bandstop.engine.select.final_mask import choose_largest, choose_live
from bandstop.engine.select.topk_sharded import all_above, count_above, count_true, not_finite
from bandstop.engine.shards.fsdp import rehomed
from bandstop.engine.shards.tensor import Shards, is_sharded, local, reshard
from bandstop.engine.snapshot import take_snapshot
from bandstop.engine.summary import Outcome, unwrapped
from bandstop.engine.thresholds import Sharing
from bandstop.engine.trace import trace
from bandstop.engine.verbs import Verbs
from bandstop.errors import ConfigError, DivergenceError
from bandstop.method.budget import Budget
from bandstop.method.gain import PassingVariance
from bandstop.method.histogram.kl import Bins, kl_to_prior

__all__ = ["Pruner"]


class Pruner(Verbs):
    """Trains ``model`` to ``budget`` within ``steps`` optimiser steps.

    >>> model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    >>> pruner = Pruner(model, 0.9, steps=20)
    >>> optimiser = torch.optim.Adam(pruner.parameter_groups(lr=1e-2))
    >>> for _ in range(20):
    ...     loss = model(torch.randn(32, 8)).square().mean() + pruner.penalty()
    ...     optimiser.zero_grad()
    ...     loss.backward()
    ...     optimiser.step()
    ...     pruner.step()
    >>> model = pruner.finalize()
    >>> sum(int(p.count_nonzero()) for p in (model[0].weight, model[2].weight))
    19
    """

    def __init__(
        self,
        model: nn.Module,
        budget: Budget | float,
        *,
        steps: int,
        recipe: Recipe | None = None,
        layers: Layers = None,
        example: Any = None,
    ) -> None:
        if steps < 1:
            raise ConfigError(
                f"steps, the optimiser steps of the whole training, must be at least 1, found {steps}"
            )
        self.model, self.steps, self.example = model, steps, example
        self.recipe = recipe or Recipe.default()
        self.budget = budget if isinstance(budget, Budget) else Budget.rate(budget)
        wanted = self.recipe.live
        choosing = self.recipe.freeze < 1 and self.recipe.count == "exact"
        self.live = example is not None and choosing if wanted is None else wanted
        if self.live and example is None:
            raise ConfigError(
                "only live connections can be kept with an example input to trace: give example=…"
            )
        self.layers = prunable_layers(model, layers)
        self.padding = {layer.name: row for layer in self.layers if (row := layer.padding) is not None}
        sizes = {layer.name: layer.free(layer.latent).numel() for layer in self.layers}
        self.target = Target.of(model, self._latents(), self.budget, self.recipe.floor, example, sizes)
        self.bins = Bins(limit=self.recipe.prior.support(), count=self.recipe.bins)
        self.taken, self.frozen = 0, False
        self._last_cuts: dict[str, float] = {}
        self._counts: dict[str, int] | None = None
        self._variance = (
            PassingVariance(self.recipe.prior, self.recipe.gate) if self.recipe.gain == "variance" else None
        )
        self.sharing = Sharing(self.recipe, self.target)
        self._shared(1.0)  # refuses what cannot be shared out before anything is touched
        if self.live:
            trace(model, example, self._latents())
        bands = [self._band(layer) for layer in self.layers]
        for layer, (band, latent) in zip(self.layers, bands, strict=True):
            layer.attach(band, latent)
        self._update()

    def _band(self, layer: PrunedLayer) -> tuple[BandStop, Tensor]:
        """Parametrisation and first latent of a layer."""
        gain, latent = first_latent(layer, self.recipe)
        return BandStop(self.recipe.gate, gain, learn_gain=self.recipe.gain == "learned"), latent

    def parameter_groups(
        self, lr: float, *, latent_lr: float | None = None, weight_decay: float = 0.0
    ) -> list[dict[str, Any]]:
        """Optimiser groups: latents, and everything else.

        Latents have the scale of the prior, about one, not of the layer: they learn ten times as fast unless told otherwise,
        and are not decayed.
        """
        self._latents()  # refuses what cannot be trained
        speed = 10 * lr if latent_lr is None else latent_lr
        latents = {"params": [layer.latent for layer in self.layers], "lr": speed, "weight_decay": 0.0}
        return optimiser_groups(self.model, [latents], lr=lr, weight_decay=weight_decay)

    @property
    def progress(self) -> float:
        """Share of the training that is done, 0 … 1."""
        return min(self.taken / self.steps, 1.0)

    @property
    def kept(self) -> int:
        """Connections kept at present."""
        return sum(self.counts.values())

    @property
    def counts(self) -> dict[str, int]:
        """Connections of each layer that pass at present."""
        if self._counts is None:  # asked for only when they are needed: the device must be waited for
            self._counts = count_above(self._latents(), self._cuts())
        return self._counts

    def _cuts(self) -> dict[str, Tensor]:
        return {layer.name: layer.band.threshold for layer in self.layers if layer.band is not None}

    @property
    def rate(self) -> float:
        """Pruning rate at present."""
        return 1 - self.kept / self.target.prunable

    @property
    def settled(self) -> bool:
        """Whether the mask is fixed."""
        return self.frozen

    @property
    def kl_weight(self) -> float:
        """λ at present."""
        return 0.0 if self.frozen else self.recipe.kl(self.progress)

    def divergence(self) -> Tensor:
        """``KL(P‖Q)`` of the latent weights, pooled or averaged over layers."""
        shards = Shards.of(self._latents())
        values = [layer.free(local(layer.latent)) for layer in self.layers]
        pooled, reduce = self.recipe.histogram == "pooled", None if shards is None else shards.sum
        return kl_to_prior(values, self.recipe.prior, self.bins, pooled=pooled, reduce=reduce)

    @torch.no_grad()
    def kl(self) -> float | None:
        """``KL(P‖Q)`` for the log; none once the mask is fixed, when latents are no longer spread as the prior."""
        return None if self.frozen else float(self.divergence())

    def penalty(self) -> Tensor:
        """``λ · KL(P‖Q)``: add it to the loss."""
        weight = self.kl_weight
        return weight * self.divergence() if weight else torch.zeros((), device=self.layers[0].latent.device)

    def step(self) -> None:
        """Call once after each optimiser step: moves the schedules, renews the thresholds, fixes the mask in time."""
        self.taken += 1
        if self.frozen:
            for layer in self.layers:
                layer.hold()
            return
        if self.recipe.freeze < 1 and self.progress >= self.recipe.freeze:
            self.freeze()
        elif self.taken % self.recipe.every == 0:
            self._update()

    @torch.no_grad()
    def _update(self) -> None:
        temperature, share = self.recipe.temperature(self.progress), self.recipe.ramp(self.progress)
        cuts, self._counts = self.sharing.thresholds(share, self._free_latents())
        for layer in self.layers:
            assert layer.band is not None
            layer.band.temperature.fill_(temperature)
            layer.band.threshold.copy_(cuts[layer.name])
            if self._variance is not None:
                self._stretch(layer, self._density(layer, share))

    def _stretch(self, layer: PrunedLayer, density: float) -> None:
        """Raise the gain for the variance that is lost when the share ``density`` of a layer passes, where the recipe asks for it."""
        if self._variance is not None and layer.band is not None:
            layer.band.stretch.fill_(self._variance(density) ** -0.5)

    def _density(self, layer: PrunedLayer, share: float) -> float:
        """Share of a layer's weights that pass; of the network's where layers compete and only the device knows their counts."""
        compete = self.recipe.allocation == "learned" or self.recipe.threshold == "prior"
        if self.budget.kind == "macs" or not compete:
            return self.counts[layer.name] / self.target.sizes[layer.name]
        return self.target.total(share) / self.target.prunable

    def _shared(self, share: float) -> dict[str, int]:
        return self.sharing(share, self._free_latents())

    def _free_latents(self) -> dict[str, Tensor]:
        """Latents without rows that stay zero."""
        latents = self._latents()
        return {layer.name: layer.free(latents[layer.name]) for layer in self.layers}

    def _latents(self) -> dict[str, Tensor]:
        if self.layers[0].shard is None:
            reshard(self.model)
        latents = {layer.name: layer.latent.detach() for layer in self.layers}
        if self.live and any(is_sharded(latent) for latent in latents.values()):
            raise ConfigError(
                "live connections cannot be traced where weights are sharded: build the pruner with Recipe(live=False), or "
                "train with DistributedDataParallel"
            )
        return latents

    @torch.no_grad()
    def selection(self) -> dict[str, Tensor]:
        """Masks of exactly what the final budget keeps, by latent magnitude (live ones only on request), or of what passes."""
        if self.recipe.count == "passing":
            return all_above(self._latents(), self._cuts())
        latents, counts = self._latents(), self._shared(1.0)
        if not self.live:
            return choose_largest(latents, counts, self.target, self.padding)
        return choose_live(latents, counts, self.target, self.model, self.example, self.padding)

    @torch.no_grad()
    def freeze(self) -> None:
        """Fix the final mask now; from here on the kept weights train freely."""
        self._update()
        if diverged := not_finite(self._latents()):
            raise DivergenceError(f"layer {diverged[0]}")
        keep = self.selection()
        self._last_cuts = {name: float(cut) for name, cut in self._cuts().items()}
        for layer in self.layers:
            layer.freeze(keep[layer.name])
        self._counts = count_true(keep)
        self.frozen = True

    @torch.no_grad()
    def finalize(self) -> nn.Module:
        """Give the plain model back: exactly the asked connections, exact zeros elsewhere, no trace of the pruner."""
        if any(layer.band is None for layer in self.layers):
            raise ConfigError(
                "the pruner is finalized already: its model is plain, attach a new pruner to go on"
            )
        if not self.frozen:
            self.freeze()
        with rehomed(self.model, [owner for layer in self.layers for owner in layer.owners]):
            for layer in self.layers:
                assert layer.band is not None and layer.band.keep is not None
                layer.hold()
                keep = layer.band.keep
                layer.detach(nonzero(layer.band(local(layer.latent)), keep))
        return self.model

    @torch.no_grad()
    def plain(self, copy: nn.Module) -> nn.Module:
        """Make a copy of the model (``deepcopy``, EMA, ``AveragedModel``) plain too, with exactly the connections of this pruner."""
        if not self.frozen:
            raise ConfigError(
                "the mask is not fixed yet: finalize the pruner, or freeze it, before a copy is made plain"
            )
        masks = {l.name: l.latent != 0 if l.band is None else l.band.keep for l in self.layers}
        return unwrapped(copy, masks)

    @torch.no_grad()
    def outcome(self) -> Outcome:
        """What was asked and what the network has: connections, parameters, bytes and, with an example input, MACs."""
        traced = self.target.budget.kind == "macs" or self.example is not None
        return Outcome.of(self.target, self.model, self.counts, self.example if traced else None)

    @torch.no_grad()
    def snapshot(self) -> dict[str, Any]:
        """The pooled latent histogram beside its prior, the divergence, and each layer's threshold and gain."""
        return take_snapshot(self, self._last_cuts)

    def state_dict(self) -> dict[str, Any]:
        """Where the schedules stand; latents, thresholds and masks are in the model's own state."""
        counts, cuts = dict(self.counts), dict(self._last_cuts)
        return {"taken": self.taken, "frozen": self.frozen, "counts": counts, "cuts": cuts}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from ``state_dict``; call before or after loading the model's state, which holds the masks."""
        self.taken, self.frozen, self._counts = (
            int(state["taken"]),
            bool(state["frozen"]),
            dict(state["counts"]),
        )
        self._last_cuts = dict(state.get("cuts", {}))
        for layer in self.layers:
            assert layer.band is not None
            loaded = layer.band.keep
            if loaded is None:
                loaded = torch.ones_like(layer.latent, dtype=torch.bool)
            layer.fix(loaded if self.frozen else None)
