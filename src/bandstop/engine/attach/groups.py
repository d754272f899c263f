"""Which parameters learn how fast, and which are decayed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

__all__ = ["optimiser_groups"]


def optimiser_groups(
    model: nn.Module, own: Sequence[dict[str, Any]], *, lr: float, weight_decay: float
) -> list[dict[str, Any]]:
    """Groups for a torch optimiser: a method's ``own``, then the rest, of which vectors are not decayed.

    >>> model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    >>> latents = {"params": [model[0].weight], "lr": 1.0, "weight_decay": 0.0}
    >>> groups = optimiser_groups(model, [latents], lr=0.1, weight_decay=0.01)
    >>> [(len(g["params"]), g["lr"], g["weight_decay"]) for g in groups]
    [(1, 1.0, 0.0), (2, 0.1, 0.0), (1, 0.1, 0.01)]
    """
    known = {id(parameter) for group in own for parameter in group["params"]}
    rest = [p for p in model.parameters() if id(p) not in known]
    groups = [
        *own,
        {"params": [p for p in rest if p.ndim < 2], "lr": lr, "weight_decay": 0.0},
        {"params": [p for p in rest if p.ndim >= 2], "lr": lr, "weight_decay": weight_decay},
    ]
    return [group for group in groups if group["params"]]
