"""What is exported: a finished network and what a device must know to use it."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from bandstop.skeleton.normalise import Normaliser

__all__ = ["DeployModel"]


@dataclass(frozen=True)
class DeployModel:
    """A plain network with exact zeros, the normaliser of its training data (None: raw inputs), names and units."""

    net: nn.Module
    normaliser: Normaliser | None
    class_names: tuple[str, ...]
    joint_names: tuple[str, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()
    units: str = "as in the training data"
    input_shape: tuple[int, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one input, without the batch."""
        if self.normaliser is None:
            return self.input_shape
        return len(self.normaliser.node_scale), self.normaliser.values

    @property
    def example(self) -> Tensor:
        return torch.zeros(1, *self.shape)
