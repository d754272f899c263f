"""A frozen pruner is taken up again in either order: trainers load the model's state before anything else."""

import copy

import pytest
import torch
from torch import nn

from bandstop import Pruner


def trained(steps: int) -> tuple[nn.Module, Pruner]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 3))
    pruner = Pruner(model, 0.8, steps=20)
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=1e-2))
    for _ in range(steps):
        optimiser.zero_grad()
        model(torch.randn(16, 10)).square().mean().backward()
        optimiser.step()
        pruner.step()
    return model, pruner


@pytest.mark.parametrize("steps", [5, 17])
@pytest.mark.parametrize("model_first", [True, False])
def test_state_loads_in_either_order(steps: int, model_first: bool) -> None:
    model, pruner = trained(steps)
    states = copy.deepcopy((model.state_dict(), pruner.state_dict()))
    fresh, second = trained(0)
    if model_first:
        fresh.load_state_dict(states[0])
    second.load_state_dict(states[1])
    if not model_first:
        fresh.load_state_dict(states[0])
    assert second.settled == (steps == 17) and second.taken == steps
    x = torch.randn(4, 10)
    assert torch.equal(fresh(x), model(x))
    plain, other = second.finalize(), pruner.finalize()
    assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), other.parameters(), strict=True))
