"""Warnings about a training that is probably not what was meant: one sentence each, once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from bandstop import Pruner, Recipe
from bandstop.engine.remarks import check_groups
from bandstop.errors import BandstopWarning
from bandstop.method.schedules import Constant
from tests.engine.small_nets import mlp

KL = Recipe(kl=Constant(1.0))


def warned(train: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        train()
    return [str(w.message) for w in found if issubclass(w.category, BandstopWarning)]


def run(
    steps: int,
    taken: int,
    *,
    recipe: Recipe | None = None,
    penalty: bool = True,
    step: bool = True,
    grouped: bool = True,
) -> Pruner:
    model = mlp()
    pruner = Pruner(model, 0.5, steps=steps, recipe=recipe)
    groups: Any = pruner.parameter_groups(lr=1e-3) if grouped else model.parameters()
    optimiser = torch.optim.Adam(groups, lr=1e-3)
    for _ in range(taken):
        loss = model(torch.randn(8, 12)).square().mean()
        if penalty:
            loss = loss + pruner.penalty()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step:
            pruner.step()
    pruner.finalize()
    return pruner


def test_a_training_as_it_should_be_is_left_in_peace() -> None:
    assert warned(lambda: run(12, 12)) == []
    assert warned(lambda: run(12, 12, recipe=KL)) == []


@pytest.mark.parametrize(
    ("training", "sentence"),
    [
        (lambda: run(3, 30), "the training goes on after steps=3"),
        (lambda: run(1000, 5), "finalized after 5 of 1,000 steps: the schedules had not ended"),
        (
            lambda: run(12, 12, recipe=KL, penalty=False),
            "no loss contained it: add pruner.penalty() to the loss",
        ),
        (lambda: run(12, 12, step=False), "pruner.step() was never called"),
        (lambda: run(12, 12, grouped=False), "give them a group of their own"),
    ],
)
def test_each_mistake_is_one_sentence_once(training: Callable[[], Any], sentence: str) -> None:
    found = warned(training)
    assert len(found) == 1 and sentence in found[0]


def test_bound_optimisers_are_looked_at_before_the_first_step() -> None:
    model = mlp()
    pruner = Pruner(model, 0.5, steps=9)
    mixed = torch.optim.SGD(model.parameters(), lr=0.1)
    assert len(warned(lambda: pruner.bind(mixed))) == 1
    assert warned(lambda: check_groups(pruner, mixed)) == []  # said already
