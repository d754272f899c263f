"""A training loop as users write it, and what it must end with."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bandstop import Budget, Pruner


def mlp() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(12, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 5)
    )


def data() -> tuple[Tensor, Tensor]:
    """64 points in 12 dimensions; the class is the largest of the first five coordinates:
    learnable by few weights.
    """
    x = torch.randn(64, 12, generator=torch.Generator().manual_seed(1))
    return x, x[:, :5].argmax(1)


def advance(
    model: nn.Module,
    pruner: Pruner,
    optimiser: torch.optim.Optimizer,
    steps: int,
    forward: Callable[[Tensor], Tensor] | None = None,
) -> list[float]:
    """Train on ``data`` and return the losses."""
    x, y = data()
    losses = []
    for _ in range(steps):
        loss = nn.functional.cross_entropy((model if forward is None else forward)(x), y) + pruner.penalty()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        pruner.step()
        losses.append(float(loss.detach()))
    return losses


def train_and_check(
    model: nn.Module,
    inputs: tuple[Any, ...],
    *,
    rate: float = 0.8,
    steps: int = 60,
    output: Callable[[Any], Tensor] = lambda y: y,
    **options: Any,
) -> Pruner:
    """Train ``model`` towards a fixed output; check that it gains by it,
    that the budget is exact and what is left is plain.
    """
    torch.manual_seed(1)  # not that of the weights: an embedding would be its goal
    with torch.no_grad():
        shape = output(model(*inputs)).shape
    goal = torch.randn(shape)
    cut = copy.deepcopy(model)
    Pruner(cut, Budget.rate(rate), steps=1, **options).finalize()
    with torch.no_grad():
        untrained = float((output(cut(*inputs)) - goal).square().mean())
    pruner = Pruner(model, Budget.rate(rate), steps=steps, **options)
    optimiser = torch.optim.AdamW(pruner.parameter_groups(lr=1e-2, latent_lr=5e-2))
    for _ in range(steps):
        loss = (output(model(*inputs)) - goal).square().mean() + pruner.penalty()
        optimiser.zero_grad()
        loss.backward()
        assert all(layer.latent.grad is not None for layer in pruner.layers), "a latent got no gradient"
        optimiser.step()
        pruner.step()
    model.eval()
    with torch.no_grad():
        before = output(model(*inputs))
        assert rate == 0 or (before - goal).square().mean() < untrained, "nothing was learnt"
        assert pruner.finalize() is model
        assert torch.allclose(output(model(*inputs)), before, atol=1e-5), "the function changed at the end"
    kept = sum(int(layer.latent.count_nonzero()) for layer in pruner.layers)
    assert kept == pruner.kept == round((1 - rate) * pruner.bound.prunable)
    assert not any("parametrizations" in key for key in model.state_dict())
    return pruner
