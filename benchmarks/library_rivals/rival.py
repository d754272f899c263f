"""A library behind the few verbs of the common loop; the base itself trains dense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

WEIGHT_DECAY = 1e-3
RATES = (3e-3, 1e-2)  # learning rates that every library tries


class Rival:
    """Brings ``net`` to ``rate`` in ``steps`` optimiser steps with one setting out of ``trials``."""

    trials: ClassVar[Sequence[dict[str, float]]] = tuple(
        {"lr": lr} for lr in (1e-3, 2e-3, 3e-3, 5e-3, 7e-3, 1e-2)
    )
    """The settings tried on the validation part: as many for every library."""
    package: ClassVar[str] = "torch"
    writes: ClassVar[str] = "the dense state dict, torch.save"

    def __init__(
        self, net: nn.Module, rate: float, steps: int, example: Tensor, setting: Mapping[str, float]
    ) -> None:
        self.net, self.rate, self.steps, self.example, self.setting = net, rate, steps, example, setting
        self.taken = 0
        self.attach()

    def attach(self) -> None:
        """Put the library on the network."""

    def groups(self) -> list[dict[str, Any]]:
        """Optimiser groups: matrices with weight decay, the rest without."""
        lr = self.setting["lr"]
        parameters = list(self.net.parameters())
        return [
            {"params": [p for p in parameters if p.ndim >= 2], "lr": lr, "weight_decay": WEIGHT_DECAY},
            {"params": [p for p in parameters if p.ndim < 2], "lr": lr, "weight_decay": 0.0},
        ]

    def optimiser(self) -> torch.optim.Optimizer:
        """AdamW for all."""
        return torch.optim.AdamW(self.groups(), lr=self.setting["lr"])

    def penalty(self) -> Tensor | float:
        """What the library adds to the loss."""
        return 0.0

    def step(self) -> None:
        """After each optimiser step."""
        self.taken += 1

    def lr_progress(self, progress: float) -> float:
        """Where in the learning-rate schedule a moment of training stands."""
        return progress

    def finalize(self) -> nn.Module:
        """Take the library off again, as its documentation says."""
        return self.net

    def save(self, net: nn.Module, path: Path) -> None:
        """Write what the library's documentation writes."""
        torch.save(net.state_dict(), path)
