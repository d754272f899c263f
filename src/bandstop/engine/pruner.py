"""The pruner: attach to a network, add the penalty to the loss, step after the optimiser, finalize."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.attach.checks import check_model, check_steps
from bandstop.engine.attach.groups import optimiser_groups
from bandstop.engine.attach.latents import first_latent
from bandstop.engine.attach.layers import PrunedLayers
from bandstop.engine.attach.parametrisation import BandStop, PrunedLayer, prunable_layers
from bandstop.engine.attach.plain import make_copy_plain, make_plain
from bandstop.engine.attach.prunable import Layers
from bandstop.engine.pause import telling
from bandstop.engine.penalty import Penalty
from bandstop.engine.planned import PlannedBudget
from bandstop.engine.recipe import Recipe
from bandstop.engine.remarks import Remarks, check_groups
from bandstop.engine.renewal import Renewal
from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.engine.select.final_mask import largest_masks, live_masks
from bandstop.engine.select.topk import count_above, masks_above, not_finite
from bandstop.engine.snapshot import take_snapshot
from bandstop.engine.start import choose_start
from bandstop.engine.state import load_state, require_masks, state_of
from bandstop.engine.summary import Outcome
from bandstop.engine.thresholds import Thresholds
from bandstop.engine.trace import count_kept
from bandstop.engine.trace.measure import run_trace
from bandstop.engine.verbs import Verbs
from bandstop.errors import ConfigError, DivergenceError
from bandstop.method.budget import Budget

__all__ = ["Pruner"]


class Pruner(Verbs):
    """Trains ``model`` to ``budget`` within ``steps`` optimiser steps.

    A model that was trained before computes the same when the pruner is attached, and is fine-tuned
    (``Recipe.finetune``); any other is trained from the prior (``bandstop.engine.start``).

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
        check_model(model)
        self.model, self.steps, self.example = model, check_steps(steps), example
        self.asked, self.budget = Recipe.of(recipe), Budget.of(budget)
        self.live = self.asked.spends_on_live(example)
        self.layers = PrunedLayers(model, prunable_layers(model, layers), whole=self.live)
        self.recipe, self.why_start = choose_start(self.asked, model, self.layers)
        latents, sizes, floor = self.layers.latents(), self.layers.sizes(), self.recipe.floor
        with telling("running the network on its example input to count multiply-accumulates"):
            self.bound = BoundBudget.of(model, latents, self.budget, floor, example, sizes)
        self._take_up(self.recipe)
        self.taken, self.frozen, self._loaded = 0, False, False
        self.fixed_thresholds: dict[str, float] = {}
        self.noted_counts: dict[str, int] | None = None
        self.thresholds.counts(1.0, self.layers.free_latents())  # refuses what cannot be, touching nothing
        if self.live:
            with telling("running the network on its example input to see that it can be traced"):
                run_trace(model, example, latents, counting=False)
        self.layers.attach([self._band(layer) for layer in self.layers], self._update)
        self.remarks = Remarks(self)

    def _take_up(self, recipe: Recipe) -> None:
        """Have ``recipe``, and what is made by it."""
        self.recipe, self.loss_terms = recipe, Penalty(recipe, self.layers)
        self.bins, self.dual = self.loss_terms.bins, self.loss_terms.dual
        self.thresholds = Thresholds(recipe, self.bound)
        self.renewal = Renewal(self.layers, self.thresholds)

    def _band(self, layer: PrunedLayer) -> tuple[BandStop, Tensor]:
        """Parametrisation and first latent of a layer."""
        recipe, learned = self.recipe, self.recipe.gain == "learned"
        gain, latent = first_latent(layer, recipe.trained_prior, recipe.start)
        band = BandStop(recipe.gate, gain, learn_gain=learned)
        if recipe.charted:
            band.make_chart(recipe.prior, self.bound.sizes[layer.name])
        return band, latent

    def parameter_groups(
        self, lr: float, *, latent_lr: float | None = None, weight_decay: float = 0.0
    ) -> list[dict[str, Any]]:
        """Optimiser groups: latents, and everything else.

        Latents have the scale of the prior, about one, not of the layer: they learn ten times as fast unless
        told otherwise, and are not decayed.
        """
        self.layers.latents()  # refuses what cannot be trained
        speed = 10 * lr if latent_lr is None else latent_lr
        latents = {"params": [layer.latent for layer in self.layers], "lr": speed, "weight_decay": 0.0}
        return optimiser_groups(self.model, [latents], lr=lr, weight_decay=weight_decay)

    def bind(self, optimiser: torch.optim.Optimizer) -> None:
        """Warn if latents share a group of the optimiser; the first one that steps is looked at anyway."""
        check_groups(self, optimiser)

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
        if self.noted_counts is None:  # asked for only when they are needed: the device must be waited for
            self.noted_counts = count_above(self.layers.latents(), self.layers.thresholds())
        return self.noted_counts

    @property
    def rate(self) -> float:
        """Pruning rate at present."""
        return 1 - self.kept / self.bound.prunable

    @property
    def settled(self) -> bool:
        """Whether the mask is fixed."""
        return self.frozen

    @property
    def kl_weight(self) -> float:
        """λ at present."""
        return 0.0 if self.frozen else self.recipe.kl(self.progress)

    def planned(self) -> PlannedBudget:
        """Connections that each layer will keep, known before training from the prior and the sizes.

        >>> print(Pruner(nn.Sequential(nn.Linear(50, 40), nn.Linear(40, 10)), 0.9, steps=9).planned())
        layer     weights  kept  rate
        0.weight    2,000   147  92.65 %
        1.weight      400    93  76.75 %
        all         2,400   240  90.00 %
        The finished network has exactly these counts.
        """
        return self.thresholds.planned(self.layers.free_latents(), live=self.live)

    def asked_rate(self) -> float | None:
        """The rate that the ramp asks for at present; none for a budget in MACs."""
        if self.bound.budget.kind == "macs":
            return None
        ramp = 1.0 if self.frozen else self.recipe.ramp(self.progress)
        return 1 - self.bound.total(ramp) / self.bound.prunable

    def divergence(self) -> Tensor:
        """``KL(P‖Q)`` of the latent weights, pooled or averaged over layers."""
        return self.loss_terms.divergence()

    @torch.no_grad()
    def kl(self) -> float | None:
        """``KL(P‖Q)`` for the log; None once the mask is fixed and latents no longer follow the prior."""
        return None if self.settled else float(self.divergence())

    def penalty(self) -> Tensor:
        """``λ · KL(P‖Q)``, and ``μ · D`` where a dual variable steers the rate: add it to the loss.

        The KL is in the loss of every N-th step, N times as heavy, with N = ``every · kl_every``: it changes
        as slowly as thresholds do, and costs as much as a forward pass of a small network.
        """
        self.layers.require_attached()
        every = self.recipe.every * self.recipe.kl_every
        if self.frozen or (self.dual is None and self.taken % every):
            return self.loss_terms.none()
        return self.loss_terms(0.0 if self.taken % every else every * self.kl_weight)

    def step(self) -> None:
        """Call once after each optimiser step: moves schedules, renews thresholds, in time fixes the mask."""
        self._require_states()
        self.taken += 1
        self.remarks.after_step(self)
        if self.frozen:
            for layer in self.layers:
                layer.hold()
            return
        if self.recipe.freeze < 1 and self.progress >= self.recipe.freeze:
            self.freeze()
        elif self.recipe.renews(self.taken, self.progress):
            self._update()
            if self.dual is not None:
                self.dual.step(self.kept, self.bound.total(self.recipe.ramp(self.progress)))

    def _require_states(self) -> None:
        """Refuse to go on after ``finalize``, or with a model and a pruner of different states."""
        self.layers.require_attached()
        if self._loaded:
            require_masks(self)
            self._loaded = False

    def _require_finite(self) -> None:
        if diverged := not_finite(self.layers.latents()):
            raise DivergenceError(f"layer {diverged[0]}")

    @torch.no_grad()
    def _update(self) -> None:
        self.noted_counts = self.renewal(self.recipe, self.progress)

    @torch.no_grad()
    def selection(self) -> dict[str, Tensor]:
        """Masks of exactly what the final budget keeps, or of what passes (``count="passing"``)."""
        latents = self.layers.latents()
        if self.recipe.count == "passing":
            return masks_above(latents, self.layers.thresholds())
        counts = self.thresholds.counts(1.0, self.layers.free_latents())
        if not self.live:
            return largest_masks(latents, counts, self.bound, self.layers.padding())
        return live_masks(latents, counts, self.bound, self.model, self.example, self.layers.padding())

    @torch.no_grad()
    def freeze(self) -> None:
        """Fix the final mask now; from here on the kept weights train freely."""
        self._require_states()
        self.layers.require_unchanged()
        self._update()
        self._require_finite()
        with telling(f"choosing the connections that stay, of {self.bound.prunable:,}"):
            masks = self.selection()
        self.fixed_thresholds = self.layers.latent_thresholds()
        for layer in self.layers:
            layer.freeze(masks[layer.name])
        self.noted_counts = {name: count_kept(mask) for name, mask in masks.items()}
        self.frozen = True

    def finalize(self) -> nn.Module:
        """Give the plain model back: exactly the asked connections, exact zeros elsewhere."""
        self._require_states()
        self.remarks.before_end(self)
        if not self.frozen:
            self.freeze()
        self.layers.require_unchanged()
        self._require_finite()
        return make_plain(self.model, self.layers)

    def plain(self, copy: nn.Module) -> nn.Module:
        """Make a copy of the model (``deepcopy``, EMA, ``AveragedModel``) plain too, with these masks."""
        if not self.frozen:
            raise ConfigError(
                "the mask is not fixed yet: finalize the pruner, or freeze it, before a copy is made plain"
            )
        masks = {l.name: l.latent != 0 if l.band is None else l.band.mask for l in self.layers}
        return make_copy_plain(copy, masks)

    @torch.no_grad()
    def outcome(self) -> Outcome:
        """What was asked and what the network has: connections, bytes and, with an example input, MACs."""
        self.layers.require_unchanged()
        counts = self.counts if self.layers[0].band is not None else self.layers.counts()
        with telling("running the network on its example input to count live connections"):
            return Outcome.of(self.bound, self.model, counts, self.example, self.why_start)

    @torch.no_grad()
    def snapshot(self) -> dict[str, Any]:
        """For a log: the latent histogram beside its prior, and each layer's threshold and gain."""
        self.layers.require_attached()
        return take_snapshot(self)

    def state_dict(self) -> dict[str, Any]:
        """Where the schedules stand; latents, thresholds and masks are in the model's own state."""
        return state_of(self)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from ``state_dict``; load the model's state, which has the masks, before or after."""
        self.layers.require_attached()
        load_state(self, state)
        self._loaded = True
