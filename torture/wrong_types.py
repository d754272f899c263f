"""Arguments of wrong types and impossible values: each must be refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from bandstop import Budget, MultiRatePruner, Pruner, Recipe, hold

__all__ = ["WRONG"]

STRANGE: dict[str, Any] = {
    "none": None, "a text": "0.9", "a list": [0.9], "a tensor": torch.tensor(0.9), "a flag": True,
    "no number": float("nan"), "infinite": float("inf"), "negative": -1, "bytes": b"1", "a set": {1},
    "an object": object(), "a complex number": 1j, "a class": float, "a function": len,
}  # fmt: skip
"""Values that are no budget, no number of steps and no recipe."""


def _net() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def _each(what: str, work: Callable[[Any], object], leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        f"{what}: {name}": (lambda value=value: work(value))
        for name, value in STRANGE.items()
        if name not in leave_out
    }


def _strange_layers(value: Any) -> object:
    return Pruner(_net(), 0.5, steps=4, layers=value)


WRONG: dict[str, Callable[[], object]] = {
    **_each("a rate", lambda value: Pruner(_net(), value, steps=4)),
    **_each("weights", Budget.weights),
    **_each("bytes", Budget.bytes),
    **_each("MACs", Budget.macs),
    **_each("a scope", lambda value: Budget.rate(0.5, scope=value)),
    **_each("steps", lambda value: Pruner(_net(), 0.5, steps=value)),
    **_each("a model", lambda value: Pruner(value, 0.5, steps=4)),
    **_each("a recipe", lambda value: Pruner(_net(), 0.5, steps=4, recipe=value), ("none",)),
    **_each("a prior", lambda value: Recipe(prior=value)),
    **_each("a gate", lambda value: Recipe(gate=value)),
    **_each("a ramp", lambda value: Recipe(ramp=value), ("a class", "a function")),  # a ramp is a function
    **_each("a start", lambda value: Recipe(start=value)),
    **_each("a share", lambda value: Recipe(freeze=value), ("a flag",)),
    **_each("how often", lambda value: Recipe(every=value), ("a flag",)),
    **_each("layers", _strange_layers, ("none", "a class", "a function")),
    **_each("rates", lambda value: MultiRatePruner(_net(), value, steps=4)),
    **_each("what is held", hold),
    "no layer of that name": lambda: _strange_layers("third.weight"),
    "no layer of that type": lambda: _strange_layers(nn.Conv2d),
    "MACs without an example": lambda: Pruner(_net(), Budget.macs(10), steps=4),
    "an example that does not fit": lambda: Pruner(_net(), 0.5, steps=4, example=torch.zeros(1, 3)),
    "rates from high to low": lambda: MultiRatePruner(_net(), (0.9, 0.5), steps=4),
}
"""What is wrong → what does it."""
