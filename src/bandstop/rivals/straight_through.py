"""Straight-through magnitude pruning: the net runs sparse, the gradient reaches every weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.method.schedules import Ramp
from bandstop.rivals.masked import MaskedMethod, Masking
from bandstop.rivals.settings import Rule, Settings, number

__all__ = ["Reaching", "StraightThrough", "StraightThroughSettings", "TopWeights", "TopWeightsSettings"]


class Reaching(Masking):
    """Forward ``W = A ⊙ θ``; backward ``∂L/∂θ = B ⊙ ∂L/∂W``, with B ⊇ A what the gradient reaches."""

    reach: Tensor

    def __init__(self, weight: Tensor) -> None:
        super().__init__(weight)
        self.register_buffer("reach", torch.ones_like(weight, dtype=torch.bool))

    def gated(self, latent: Tensor) -> Tensor:
        reached = latent * self.reach
        return reached + (latent * self.mask - reached).detach()


@dataclass(frozen=True)
class TopWeightsSettings(Settings):
    """What methods that keep all latents and run with the largest have in common."""

    allocation: Rule = "erk"
    """How layers share the budget."""
    every: int = number(1, 1)
    """Optimiser steps between two choices of the mask."""
    freeze: float = number(1.0, 0.0, 1.0)
    """Progress at which the mask is fixed; 1 for never, as published."""


T = TypeVar("T", bound=TopWeightsSettings)


class TopWeights(MaskedMethod[T]):
    """The largest latent magnitudes are used; the others live on unseen and may come back."""

    def make_band(self, layer: PrunedLayer) -> tuple[Masking, Tensor]:
        """A mask with a wider reach."""
        return Reaching(layer.latent), layer.latent.detach()

    def begin(self) -> None:
        """The first choice."""
        self.refresh()

    def ramp(self) -> float:
        """How much of the final pruning applies now, 0 … 1."""
        return 1.0

    def final_masks(self) -> dict[str, Tensor]:
        """The largest latents, used at present or not."""
        return self.select({layer.name: layer.latent.detach().abs() for layer in self.layers})

    def refresh(self) -> None:
        """Choose the mask from all latents."""
        masks = self.select({layer.name: layer.latent.detach().abs() for layer in self.layers}, self.ramp())
        for layer in self.layers:
            self.band(layer).mask.copy_(masks[layer.name])

    def update(self) -> None:
        """Choose again now and then; fix the mask at ``freeze``."""
        if self.settings.freeze < 1 and self.progress >= self.settings.freeze:
            self.freeze(self.final_masks())
        elif self.taken % self.settings.every == 0:
            self.refresh()


@dataclass(frozen=True)
class StraightThroughSettings(TopWeightsSettings):
    """Bengio et al. 2013 with magnitudes; the cubic schedule of Lin et al. 2020 (DPF)."""

    end: float = number(0.5, 0.0, 1.0)
    """Progress at which the budget is reached; 0 for from the start."""


class StraightThrough(TopWeights[StraightThroughSettings]):
    """``θ ← θ − η ∂L/∂W`` at ``W = M ⊙ θ`` for every weight: what was wrongly dropped grows back."""

    def ramp(self) -> float:
        """Zhu & Gupta's cubic ramp."""
        return 1.0 if self.settings.end == 0 else Ramp(0.0, 1.0, end=self.settings.end)(self.progress)
