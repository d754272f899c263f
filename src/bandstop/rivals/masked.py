"""The common ground of all rivals: masks on the weights, an exact last selection, a state to resume from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Generic, TypeVar, cast

import torch
from torch import Tensor, nn

from bandstop.engine.attach.groups import optimiser_groups
from bandstop.engine.attach.optional_mask import rename_mask
from bandstop.engine.attach.parametrisation import BandStop, PrunedLayer, nonzero, prunable_layers
from bandstop.engine.attach.plain import take_off
from bandstop.engine.select.allocation import allocate
from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.engine.select.topk import select
from bandstop.engine.trace import count_kept
from bandstop.engine.verbs import Verbs
from bandstop.errors import ConfigError, ModelError
from bandstop.method.budget import Budget
from bandstop.rivals.settings import Settings

__all__ = ["MaskedMethod", "Masking"]

S = TypeVar("S", bound=Settings)


class Masking(nn.Module):
    """``W = M ⊙ θ``. A rival with a softer gate overrides ``gated``, which holds until the mask is fixed."""

    mask: Tensor

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.frozen = False
        self.register_buffer("mask", torch.ones_like(weight, dtype=torch.bool))

    def forward(self, latent: Tensor) -> Tensor:
        return latent * self.mask if self.frozen else self.gated(latent)

    def gated(self, latent: Tensor) -> Tensor:
        """The weight before the mask is fixed."""
        return latent * self.mask

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        rename_mask(state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        return f"kept={count_kept(self.mask)}, frozen={self.frozen}"


class MaskedMethod(Verbs, Generic[S]):
    """Trains ``net`` to ``budget`` in ``steps`` optimiser steps; ``begin`` and ``update`` say how.

    The verbs are those of ``bandstop.Pruner``. Rivals that prune before training define ``prepare``, those
    whose stages each have a learning-rate schedule of their own ``lr_progress``.
    """

    def __init__(
        self, net: nn.Module, budget: Budget | float, *, steps: int, settings: S, example: Any = None
    ) -> None:
        if steps < 1:
            raise ConfigError(
                f"steps, the optimiser steps of the whole training, must be at least 1, found {steps}"
            )
        self.net, self.steps, self.settings, self.example = net, steps, settings, example
        self.budget = budget if isinstance(budget, Budget) else Budget.rate(budget)
        self.layers = prunable_layers(net)
        weights = {layer.name: layer.latent for layer in self.layers}
        if broken := [name for name, weight in weights.items() if not bool(weight.isfinite().all())]:
            raise ModelError(f"layer {broken[0]} holds values that are not finite, so it cannot be pruned")
        self.bound = BoundBudget.of(net, weights, self.budget, settings.floor, example)
        self.taken, self.frozen = 0, False
        # Seeded from the global generator: one seed for the run decides everything, and a checkpoint holds
        # this state.
        self.generator = torch.Generator().manual_seed(int(torch.randint(2**31 - 1, ())))
        self.optimiser: torch.optim.Optimizer | None = None
        for layer in self.layers:
            band, latent = self.make_band(layer)
            # Attaching asks of a band only that it maps a latent to a weight.
            layer.attach(cast(BandStop, band), latent)
        with torch.no_grad():
            self.begin()

    # --- what a rival defines
    # -------------------------------------------------------------------------------------

    def make_band(self, layer: PrunedLayer) -> tuple[Masking, Tensor]:
        """Parametrisation and first latent of a layer."""
        return Masking(layer.latent), layer.latent.detach()

    def begin(self) -> None:
        """Before the first step."""

    def update(self) -> None:
        """After each optimiser step, until the mask is fixed."""

    def final_masks(self) -> dict[str, Tensor]:
        """The exact last selection."""
        return self.select(self.magnitudes())

    @property
    def allocation(self) -> str:
        """How layers share the budget."""
        return str(getattr(self.settings, "allocation", "learned"))

    # --- what a rival uses
    # ----------------------------------------------------------------------------------------

    def band(self, layer: PrunedLayer) -> Any:
        """The layer's parametrisation."""
        return layer.band

    @torch.no_grad()
    def magnitudes(self) -> dict[str, Tensor]:
        """``|W|`` of every layer as the network uses it now."""
        return {layer.name: self.band(layer)(layer.latent).abs() for layer in self.layers}

    def counts(self, scores: Mapping[str, Tensor], ramp: float = 1.0) -> dict[str, int]:
        """Connections per layer when ``ramp`` (0 … 1) of the pruning applies, by scores ≥ 0."""
        split = partial(allocate, self.allocation, floor=self.settings.floor, stacked=self.bound.stacked)
        return self.bound.counts(ramp, split, scores)

    def remaining(self, ramp: float) -> int:
        """Connections in all when ``ramp`` (0 … 1) of the pruning applies (MACs: of the largest
        magnitudes).
        """
        if self.budget.kind != "macs":
            return self.bound.total(ramp)
        latents = {layer.name: layer.latent.detach().abs() for layer in self.layers}
        return sum(self.counts(latents, ramp).values())

    def select(self, scores: Mapping[str, Tensor], ramp: float = 1.0) -> dict[str, Tensor]:
        """Masks of the connections that ``ramp`` (0 … 1) of the pruning leaves, best scores (≥ 0) first."""
        counts = self.counts(scores, ramp)
        return {name: select(score, counts[name]) for name, score in scores.items()}

    def random_scores(self) -> dict[str, Tensor]:
        """A uniform random number for each weight."""
        return {
            layer.name: torch.rand(layer.latent.shape, generator=self.generator).to(layer.latent.device)
            for layer in self.layers
        }

    @torch.no_grad()
    def impose(self, masks: Mapping[str, Tensor]) -> None:
        """Set the masks; the latents of what they drop are zero, so that a return starts from zero."""
        for layer in self.layers:
            band = self.band(layer)
            band.mask.copy_(masks[layer.name])
            layer.latent.mul_(band.mask)

    @torch.no_grad()
    def freeze(self, masks: Mapping[str, Tensor]) -> None:
        """Fix the masks for good; kept latents take their effective values: the function does not jump."""
        for layer in self.layers:
            band, mask = self.band(layer), masks[layer.name]
            layer.latent.copy_(nonzero(band(layer.latent), mask))
            band.mask.copy_(mask)
        self._mark_frozen(True)

    def _mark_frozen(self, frozen: bool) -> None:
        self.frozen = frozen
        for layer in self.layers:
            self.band(layer).frozen = frozen

    def forget_momentum(self, layer: PrunedLayer, where: Tensor) -> None:
        """Zero the optimiser's first moments at these places of a layer (if the optimiser is bound)."""
        if self.optimiser is not None:
            for name in ("exp_avg", "momentum_buffer"):
                moment = self.optimiser.state.get(layer.latent, {}).get(name)
                if moment is not None:
                    moment.masked_fill_(where, 0.0)

    # --- the verbs
    # ------------------------------------------------------------------------------------------------

    def parameter_groups(
        self, lr: float, *, latent_lr: float | None = None, weight_decay: float = 0.0
    ) -> list[dict[str, Any]]:
        """Optimiser groups: weights, what the rival adds (never decayed), everything else.

        ``latent_lr`` belongs to latents whose scale is a prior's; a rival trains the weights themselves, at
        ``lr``.
        """
        weights = [layer.latent for layer in self.layers]
        added = {id(p): p for layer in self.layers for p in self.band(layer).parameters()}
        own = [
            {"params": weights, "lr": lr, "weight_decay": self.weight_decay(weight_decay)},
            {"params": list(added.values()), "lr": self.added_lr(lr), "weight_decay": 0.0},
        ]
        return optimiser_groups(self.net, own, lr=lr, weight_decay=weight_decay)

    def weight_decay(self, asked: float) -> float:
        """Decay of the weights."""
        return asked

    def added_lr(self, lr: float) -> float:
        """Learning rate of what the rival adds."""
        return lr

    def bind(self, optimiser: torch.optim.Optimizer) -> None:
        """Show the optimiser to rivals that reset momentum; without it they go on with stale momentum."""
        self.optimiser = optimiser

    @property
    def progress(self) -> float:
        """Share of the training that is done, 0 … 1."""
        return min(self.taken / self.steps, 1.0)

    @property
    def kept(self) -> int:
        """Connections kept at present."""
        return sum(count_kept(self.band(layer).mask) for layer in self.layers)

    @property
    def rate(self) -> float:
        """Pruning rate at present."""
        return 1 - self.kept / self.bound.prunable

    @property
    def settled(self) -> bool:
        """Whether the topology will not change any more."""
        return self.frozen

    def penalty(self) -> Tensor:
        """Added to the loss."""
        return torch.zeros((), device=self.layers[0].latent.device)

    def step(self) -> None:
        """Call once after each optimiser step."""
        self.taken += 1
        if not self.frozen:
            with torch.no_grad():
                self.update()

    @torch.no_grad()
    def finalize(self) -> nn.Module:
        """Give the plain net back: exactly the asked connections, exact zeros elsewhere."""
        if not self.frozen:
            self.freeze(self.final_masks())
        for layer in self.layers:
            band = self.band(layer)
            take_off(layer, nonzero(band(layer.latent), band.mask))
        return self.net

    @torch.no_grad()
    def snapshot(self) -> dict[str, Any]:
        """The threshold of each layer (of a mask: the smallest kept magnitude)."""
        rows = {}
        for layer in self.layers:
            weight = self.band(layer)(layer.latent).abs()
            passed = weight[weight > 0]
            rows[layer.name] = {"threshold": float(passed.min()) if passed.numel() else None, "gain": None}
        return {"layers": rows}

    def state_dict(self) -> dict[str, Any]:
        """Where the method stands; weights, masks and added parameters are in the net's own state."""
        return {"taken": self.taken, "frozen": self.frozen, "generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from ``state_dict``; call before or after loading the net's state."""
        self.taken = int(state["taken"])
        self.generator.set_state(state["generator"])
        self._mark_frozen(
            bool(state["frozen"] if "frozen" in state else state["fixed"])
        )  # "fixed": version 0.1
