"""Optimiser groups for a model that may or may not have a pruner: model code stays the same either way."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from torch import nn

from bandstop.engine.pruner import Pruner

__all__ = ["attached", "parameter_groups", "remember"]

_PRUNERS: WeakKeyDictionary[nn.Module, Pruner] = WeakKeyDictionary()


def remember(model: nn.Module, pruner: Pruner) -> None:
    """Let ``parameter_groups(model)`` find its pruner."""
    _PRUNERS[model] = pruner


def attached(model: nn.Module) -> Pruner | None:
    """The pruner that an integration attached to ``model``."""
    return _PRUNERS.get(model)


def parameter_groups(
    model: nn.Module, lr: float, *, latent_lr: float | None = None, weight_decay: float = 0.0
) -> list[dict[str, Any]]:
    """Groups for an optimiser: those of the model's pruner, or one group with all parameters if it has none.

    >>> [len(group["params"]) for group in parameter_groups(nn.Linear(2, 3), lr=1e-3)]
    [2]
    """
    pruner = attached(model)
    if pruner is None:
        return [{"params": list(model.parameters()), "lr": lr, "weight_decay": weight_decay}]
    return pruner.parameter_groups(lr, latent_lr=latent_lr, weight_decay=weight_decay)
