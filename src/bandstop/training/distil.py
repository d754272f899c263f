"""Learning from other networks' predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = ["Teacher", "distillation", "soft_target"]

Teacher = Callable[[Tensor], Tensor]
"""Class scores of signals."""


def distillation(scores: Tensor, target: Tensor, temperature: float) -> Tensor:
    """``T² · KL(target‖student)`` at temperature T; ``target`` are probabilities, softened as much."""
    student = F.log_softmax(scores / temperature, dim=1)
    return F.kl_div(student, target, reduction="batchmean") * temperature**2


@torch.no_grad()
def soft_target(teachers: Sequence[Teacher], signals: Tensor, temperature: float) -> Tensor:
    """The mean of what the teachers find probable, softened by ``temperature``.

    >>> soft_target([lambda x: torch.tensor([[0.0, 0.0]])], torch.zeros(1, 1), 2.0)
    tensor([[0.5000, 0.5000]])
    """
    return torch.stack([F.softmax(teacher(signals) / temperature, dim=1) for teacher in teachers]).mean(0)
