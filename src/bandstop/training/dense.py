"""Training without pruning, behind the same verbs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.attach.groups import optimiser_groups
from bandstop.engine.verbs import Verbs

__all__ = ["Dense"]


class Dense(Verbs):
    """No pruning: every weight is kept.

    >>> Dense(nn.Linear(3, 2), steps=10).kept
    6
    """

    def __init__(self, net: nn.Module, steps: int) -> None:
        self.net, self.steps, self.taken = net, steps, 0
        self.kept = sum(p.numel() for p in net.parameters() if p.ndim >= 2)
        self.rate = 0.0

    @property
    def settled(self) -> bool:
        """The last fifth of training, as for the pruned nets, is what weight averaging covers."""
        return self.taken >= 0.8 * self.steps

    def parameter_groups(
        self, lr: float, *, latent_lr: float | None, weight_decay: float
    ) -> list[dict[str, Any]]:
        """Decay on weights only."""
        weights = {
            "params": [p for p in self.net.parameters() if p.ndim >= 2],
            "lr": lr,
            "weight_decay": weight_decay,
        }
        return optimiser_groups(self.net, [weights], lr=lr, weight_decay=weight_decay)

    def penalty(self) -> Tensor:
        """Nothing."""
        return torch.zeros(())

    def step(self) -> None:
        """Count."""
        self.taken += 1

    def finalize(self) -> nn.Module:
        """The net as it is."""
        return self.net

    def snapshot(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def state_dict(self) -> dict[str, Any]:
        """Steps taken."""
        return {"taken": self.taken}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Steps taken."""
        self.taken = int(state["taken"])
