"""Nothing in a training step waits for the device: on the meta device, which has no values,
any such wait is an error.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from bandstop import Pruner, Recipe
from bandstop.method.priors import Gaussian
from bandstop.method.schedules import Constant
from tests.engine.networks.training_for_tests import data, mlp

RECIPES = {
    "default": Recipe(),
    "with KL": Recipe(kl=Constant(0.1)),
    "pooled": Recipe(kl=Constant(0.1), histogram="pooled", allocation="learned"),
    "erk": Recipe(allocation="erk"),
    "paper": Recipe.paper(),
    "held": Recipe.held(),
    "held with KL": replace(Recipe.held(Gaussian(1.0)), kl=Constant(0.1)),
}


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@pytest.mark.parametrize("frozen", [False, True])
def test_a_step_reads_nothing_back(recipe: Recipe, frozen: bool) -> None:
    model = mlp()
    pruner = Pruner(model, 0.8, steps=100, recipe=recipe)
    optimiser = torch.optim.SGD(pruner.parameter_groups(lr=1e-2), momentum=0.9)
    if frozen:
        pruner.freeze()
    model.to("meta")
    x, y = (tensor.to("meta") for tensor in data())
    for _ in range(9):  # thresholds are renewed at every fourth
        loss = nn.functional.cross_entropy(model(x), y) + pruner.penalty()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        pruner.step()
    assert pruner.layers[0].latent.device.type == "meta" and pruner.taken == 9


class NoWaiting(TorchDispatchMode):
    """Refuses operations whose result the host must wait for."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        assert name not in (
            "_local_scalar_dense",
            "nonzero",
            "item",
            "is_nonzero",
            "masked_select",
            "unique",
        ), name
        return func(*args, **(kwargs or {}))


def test_the_same_on_a_real_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without KL, which on a CPU goes through a kernel that is not torch's, and without the CPU's gate."""
    monkeypatch.setattr("bandstop.method.gate.shrunk_on_cpu", lambda *_: None)
    model = mlp()
    pruner = Pruner(model, 0.8, steps=100, recipe=Recipe(allocation="learned"))
    optimiser = torch.optim.SGD(pruner.parameter_groups(lr=1e-2))
    (x, y), before = data(), pruner.layers[0].band.threshold.clone()  # type: ignore[union-attr]
    with NoWaiting():
        for _ in range(8):
            loss = nn.functional.cross_entropy(model(x), y) + pruner.penalty()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            pruner.step()
    assert not torch.equal(before, pruner.layers[0].band.threshold)  # type: ignore[union-attr]
    passing = sum(int((layer.owners[0][0].weight != 0).sum()) for layer in pruner.layers)
    assert pruner.kept == passing
