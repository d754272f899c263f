"""torch.compile: one graph without breaks,
compiled anew only when the mask is fixed and when the pruner is gone.
"""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters

from bandstop import Pruner, Recipe
from tests.engine.networks.training_for_tests import advance, data, mlp
from tests.needs import needs_python_headers


@pytest.mark.parametrize("recipe", [Recipe(), Recipe.paper()], ids=["default", "paper"])
def test_no_breaks_and_no_recompilation_from_step_to_step(recipe: Recipe) -> None:
    torch._dynamo.reset()
    counters.clear()
    model, plain = mlp(), mlp()
    pruner, beside = (Pruner(net, 0.8, steps=40, recipe=recipe) for net in (model, plain))
    optimisers = [torch.optim.Adam(p.parameter_groups(lr=1e-2)) for p in (pruner, beside)]
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    graphs = []
    for steps in (2, 20, 18):
        losses = advance(model, pruner, optimisers[0], steps, forward=compiled)
        assert losses == pytest.approx(advance(plain, beside, optimisers[1], steps), abs=1e-4)
        graphs.append(counters["stats"]["unique_graphs"])
    assert not counters["graph_break"]
    assert graphs[0] == graphs[1] == 1
    assert graphs[2] == (1 if recipe.freeze == 1 else 2)
    pruner.finalize()
    x = data()[0]
    assert torch.allclose(compiled(x), model(x), atol=1e-5)


def test_inductor_trains_too() -> None:  # several seconds: it compiles C++ twice, forward and backward
    needs_python_headers("g++")
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = nn.Linear(12, 5)
    pruner = Pruner(model, 0.5, steps=10, recipe=Recipe(freeze=1.0))
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=1e-2))
    losses = advance(model, pruner, optimiser, 10, forward=torch.compile(model))
    assert losses[-1] < losses[0]
    assert int(pruner.finalize().weight.count_nonzero()) == 30  # type: ignore[operator,union-attr]
