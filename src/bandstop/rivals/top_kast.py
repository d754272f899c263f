"""Top-KAST: always sparse, forwards and backwards."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bandstop.engine.select.topk import select
from bandstop.rivals.settings import number
from bandstop.rivals.straight_through import TopWeights, TopWeightsSettings

__all__ = ["TopKast", "TopKastSettings"]


@dataclass(frozen=True)
class TopKastSettings(TopWeightsSettings):
    """Jayakumar et al. 2020."""

    backward: float = number(5.0, 1.0)
    """Size of the backward set in forward sets (98 % / 90 % and 99 % / 95 % in the paper)."""
    exploration: float = number(1e-4, 0.0)
    """Weight of the exploration loss (the paper's weight decay)."""


class TopKast(TopWeights[TopKastSettings]):
    """Forward set A: the largest ``|θ|`` of each layer; backward set B ⊃ A: ``backward`` times as many.

    ``L_R = λ/2 · ( Σ_A θ² + Σ_{B∖A} θ²/D )``, D the density of A: those on the brink must grow against a
    stronger pull. It takes the place of weight decay. Weights outside B do not move.
    """

    def refresh(self) -> None:
        """Choose both sets."""
        super().refresh()
        for layer in self.layers:
            band = self.band(layer)
            wider = min(layer.latent.numel(), round(self.settings.backward * int(band.mask.sum())))
            band.reach.copy_(select(layer.latent.abs(), wider) | band.mask)

    def weight_decay(self, asked: float) -> float:
        """None: the exploration loss is it."""
        return 0.0

    def penalty(self) -> Tensor:
        """The exploration loss, until the mask is fixed."""
        total = torch.zeros((), device=self.layers[0].latent.device)
        if self.frozen or not self.settings.exploration:
            return total
        for layer in self.layers:
            band = self.band(layer)
            density = band.mask.float().mean().clamp(min=1e-9)
            pull = torch.where(band.mask, 1.0, 1 / density) * band.reach
            total = total + (pull * layer.latent.square()).sum()
        return self.settings.exploration / 2 * total
