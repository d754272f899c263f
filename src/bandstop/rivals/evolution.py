"""SET: sparse evolutionary training."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.rivals.rewiring import Rewiring, RewiringSettings

__all__ = ["Evolution", "EvolutionSettings"]


@dataclass(frozen=True)
class EvolutionSettings(RewiringSettings):
    """Mocanu et al. 2018: ζ = 0.3 throughout; the end as Evci et al. 2020 for SET."""


class Evolution(Rewiring[EvolutionSettings]):
    """Each layer drops the ζ share of smallest weights and grows as many at random, all from zero."""

    def growth(self, layer: PrunedLayer) -> Tensor:
        """Chance alone."""
        return torch.rand(layer.latent.shape, generator=self.generator).to(layer.latent.device)

    def restarts(self, kept: Tensor, grown: Tensor) -> Tensor:
        """All that is grown, even what was dropped a moment ago."""
        return grown
