"""RigL: grow where the loss's gradient is largest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.rivals.masked import Masking
from bandstop.rivals.rewiring import Rewiring, RewiringSettings

__all__ = ["RigL", "RigLSettings", "Watched"]


@dataclass(frozen=True)
class RigLSettings(RewiringSettings):
    """Evci et al. 2020: ERK, α = 0.3 with cosine decay, ΔT = 100, until 75 % of training."""


class Watched(Masking):
    """A mask that can note ``∂L/∂W`` of all connections, kept or not, while ``∂L/∂θ`` stays masked."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__(weight)
        self.watching = False
        self.seen: Tensor | None = None

    def gated(self, latent: Tensor) -> Tensor:
        weight = latent * self.mask
        if self.watching and weight.requires_grad:
            weight.register_hook(self._note)  # type: ignore[no-untyped-call]
        return weight

    def _note(self, gradient: Tensor) -> None:
        # A sum: a weight that several places of a net use has several gradients.
        self.seen = gradient.detach().clone() if self.seen is None else self.seen + gradient.detach()


class RigL(Rewiring[RigLSettings]):
    """Drops a share ``α/2·(1 + cos(π t/T))`` of smallest weights, grows the largest ``|∂L/∂W|``.

    The dense gradient is computed only for the batch of an update step. A grown connection starts from
    zero, unless it was dropped in the same update.
    """

    def make_band(self, layer: PrunedLayer) -> tuple[Masking, Tensor]:
        """A mask that can be watched."""
        return Watched(layer.latent), layer.latent.detach()

    def begin(self) -> None:
        """A random sparse net, watched if the first step is an update."""
        super().begin()
        self._watch()

    def _watch(self) -> None:
        for layer in self.layers:
            band = self.band(layer)
            band.watching, band.seen = self.due(self.taken + 1), None

    @property
    def fraction(self) -> float:
        """Cosine decay to zero at ``end``."""
        return self.settings.drop / 2 * (1 + math.cos(math.pi * min(self.taken / max(self.last, 1), 1.0)))

    def growth(self, layer: PrunedLayer) -> Tensor:
        """``|∂L/∂W|`` of the batch just trained on."""
        seen: Tensor | None = self.band(layer).seen
        return torch.zeros_like(layer.latent) if seen is None else seen.abs()

    def restarts(self, kept: Tensor, grown: Tensor) -> Tensor:
        """What was not there before."""
        return grown & ~kept

    def update(self) -> None:
        """Rewire, then watch if the next step needs it."""
        super().update()
        self._watch()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue, watching if the next step needs it."""
        super().load_state_dict(state)
        self._watch()
