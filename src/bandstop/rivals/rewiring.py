"""What SET and RigL share: a sparse net of constant size that drops its smallest weights and grows others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.engine.select.topk import select
from bandstop.rivals.masked import MaskedMethod
from bandstop.rivals.settings import Rule, Settings, number

__all__ = ["Rewiring", "RewiringSettings", "rewired"]


@dataclass(frozen=True)
class RewiringSettings(Settings):
    """When and how much is rewired."""

    allocation: Rule = "erk"
    """How layers share the budget."""
    drop: float = number(0.3, 0.0, 1.0)
    """Share of a layer's connections that is moved at an update."""
    every: int = number(100, 1)
    """Optimiser steps between updates …"""
    least: int = number(20, 1)
    """… but not so many that fewer than this number of updates happen before ``end``."""
    end: float = number(0.75, 0.0, 1.0)
    """Progress after which the topology stays."""


R = TypeVar("R", bound=RewiringSettings)


def rewired(weight: Tensor, mask: Tensor, growth: Tensor, moved: int) -> tuple[Tensor, Tensor]:
    """New mask and what was grown: the ``moved`` smallest ``|w|`` go, the best of ``growth`` come.

    A connection just dropped may be grown again at once, as in both papers' code.

    >>> mask = torch.tensor([True, True, False, False])
    >>> rewired(torch.tensor([0.1, 2.0, 0.0, 0.0]), mask, torch.tensor([0.0, 9.0, 1.0, 3.0]), 1)
    (tensor([False,  True, False,  True]), tensor([False, False, False,  True]))
    """
    score = torch.where(mask, weight.detach().abs(), -1.0)
    remaining = select(score, int(mask.sum()) - moved)
    grown = select(torch.where(remaining, -torch.inf, growth.to(score.dtype)), moved)
    return remaining | grown, grown


class Rewiring(MaskedMethod[R]):
    """A random mask first; every ``interval`` steps each layer moves some of its connections."""

    def begin(self) -> None:
        """A random sparse net of exactly the asked size."""
        self.impose(self.select(self.random_scores()))

    @property
    def last(self) -> int:
        """The step after which the topology stays."""
        return int(self.settings.end * self.steps)

    @property
    def interval(self) -> int:
        """Optimiser steps between updates."""
        return max(1, min(self.settings.every, self.last // self.settings.least))

    def due(self, taken: int) -> bool:
        """Whether the topology changes after this step."""
        return taken % self.interval == 0 and taken <= self.last

    @property
    def settled(self) -> bool:
        """After the last update."""
        return self.frozen or self.taken >= self.last

    @property
    def fraction(self) -> float:
        """Share of the connections to move now."""
        return self.settings.drop

    def growth(self, layer: PrunedLayer) -> Tensor:
        """Scores of what to grow."""
        raise NotImplementedError

    def restarts(self, kept: Tensor, grown: Tensor) -> Tensor:
        """Which of the grown connections start from zero."""
        raise NotImplementedError

    def update(self) -> None:
        """Rewire each layer, if due."""
        if not self.due(self.taken):
            return
        for layer in self.layers:
            band = self.band(layer)
            moved = int(self.fraction * int(band.mask.sum()))
            mask, grown = rewired(layer.latent, band.mask, self.growth(layer), moved)
            fresh = self.restarts(band.mask, grown)
            layer.latent.masked_fill_(fresh | ~mask, 0.0)
            self.forget_momentum(layer, fresh)
            band.mask.copy_(mask)

    def final_masks(self) -> dict[str, Tensor]:
        """As it stands: the size never changed."""
        return {layer.name: self.band(layer).mask.clone() for layer in self.layers}
