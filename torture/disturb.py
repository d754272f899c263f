"""What is done to a model or its pruner between attach and finalize."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch import nn

from bandstop import Budget, Pruner

__all__ = ["DISTURBANCES"]

Disturb = Callable[[nn.Module, Pruner, int], object]


def _at(step: int, work: Callable[[nn.Module, Pruner], Any]) -> Disturb:
    def disturb(model: nn.Module, pruner: Pruner, now: int) -> None:
        if now == step:
            work(model, pruner)

    return disturb


def _first_linear(model: nn.Module) -> tuple[nn.Module, str]:
    """A layer with weights and its name in its parent."""
    for parent in model.modules():
        for name, child in parent.named_children():
            if isinstance(child, nn.Linear) and not name.startswith("parametrizations"):
                return parent, name
    return model, ""


def _replace(model: nn.Module, pruner: Pruner) -> None:
    parent, name = _first_linear(model)
    if name:
        old = getattr(parent, name)
        setattr(parent, name, nn.Linear(old.in_features, old.out_features))


def _append(model: nn.Module, pruner: Pruner) -> None:
    model.add_module("one_more", nn.Linear(4, 4))


def _delete(model: nn.Module, pruner: Pruner) -> None:
    parent, name = _first_linear(model)
    if name:
        delattr(parent, name)


def _other_budget(model: nn.Module, pruner: Pruner) -> None:
    twin = Pruner(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), 0.5, steps=6)
    twin.freeze()
    pruner.load_state_dict(twin.state_dict())


def _own_state(model: nn.Module, pruner: Pruner) -> None:
    net, state = copy.deepcopy(model.state_dict()), copy.deepcopy(pruner.state_dict())
    pruner.step()
    model.load_state_dict(net)
    pruner.load_state_dict(state)


def _half_state(model: nn.Module, pruner: Pruner) -> None:
    state = copy.deepcopy(pruner.state_dict())
    pruner.freeze()
    pruner.load_state_dict(state)


def _frozen_then_old_model(model: nn.Module, pruner: Pruner) -> None:
    net = copy.deepcopy(model.state_dict())
    pruner.freeze()
    with suppress(RuntimeError):  # torch's own refusal: the masks are missing
        model.load_state_dict(net)


def _broken_state(model: nn.Module, pruner: Pruner) -> None:
    state = copy.deepcopy(pruner.state_dict())
    state["counts"] = {"other": 3}
    pruner.load_state_dict(state)


def _number(value: float, every: bool = False) -> Callable[[nn.Module, Pruner], None]:
    def work(model: nn.Module, pruner: Pruner) -> None:
        with torch.no_grad():
            latent = pruner.layers[-1].latent
            latent.fill_(value) if every else latent.view(-1)[:1].fill_(value)

    return work


def _frozen_number(value: float) -> Callable[[nn.Module, Pruner], None]:
    def work(model: nn.Module, pruner: Pruner) -> None:
        pruner.freeze()
        with torch.no_grad():
            latent = pruner.layers[0].latent
            latent[latent != 0] = value

    return work


def _scaled(factor: float) -> Callable[[nn.Module, Pruner], None]:
    def work(model: nn.Module, pruner: Pruner) -> None:
        with torch.no_grad():
            for layer in pruner.layers:
                layer.latent.mul_(factor)

    return work


def _second_pruner(model: nn.Module, pruner: Pruner) -> None:
    Pruner(model, Budget.rate(0.5), steps=3)


DISTURBANCES: dict[str, Disturb] = {
    "nothing": lambda model, pruner, step: None,
    "a layer replaced": _at(2, _replace),
    "a layer appended": _at(3, _append),
    "a layer deleted": _at(2, _delete),
    "a state of another pruner": _at(2, _other_budget),
    "its own state": _at(3, _own_state),
    "half a state": _at(3, _half_state),
    "an old model after the freeze": _at(3, _frozen_then_old_model),
    "a broken state": _at(1, _broken_state),
    "frozen early": _at(0, lambda model, pruner: pruner.freeze()),
    "frozen twice": lambda model, pruner, step: pruner.freeze() if step in (1, 3) else None,
    "finalized early": _at(2, lambda model, pruner: pruner.finalize()),
    "finalized, then asked": _at(5, lambda model, pruner: (pruner.finalize(), pruner.snapshot())),
    "a value that is no number": _at(2, _number(float("nan"))),
    "an infinite value": _at(2, _number(float("inf"))),
    "all values equal": _at(4, _number(0.5, every=True)),
    "all values zero": _at(4, _number(0.0, every=True)),
    "no number after the freeze": _at(4, _frozen_number(float("nan"))),
    "zeros after the freeze": _at(4, _frozen_number(0.0)),
    "values that vanish": _at(5, _scaled(1e-30)),
    "values that explode": _at(5, _scaled(1e30)),
    "another type": _at(2, lambda model, pruner: model.to(torch.float64)),
    "half precision on the way": _at(2, lambda model, pruner: model.half()),
    "a deep copy": _at(2, lambda model, pruner: copy.deepcopy(model)),
    "a second pruner": _at(2, _second_pruner),
    "its outcome": lambda model, pruner, step: (pruner.outcome(), pruner.counts, pruner.rate),
    "evaluation": lambda model, pruner, step: model.train(step % 2 == 0),
}
"""Name → what is done at which step."""
