"""The transformer that costs are measured on trains under the pruner, its tied head included."""

import importlib.util
from pathlib import Path

import torch
from torch.nn import functional as F

from bandstop import Pruner


def test_a_step_of_a_small_one() -> None:
    path = Path(__file__).parents[2] / "benchmarks" / "transformer_step.py"
    spec = importlib.util.spec_from_file_location("transformer_step", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    net = module.Transformer(vocabulary=50, context=16, width=24, heads=2, layers=1)
    pruner = Pruner(net, 0.9, steps=5)
    assert len([layer for layer in pruner.layers if len(layer.owners) == 2]) == 1
    optimiser = torch.optim.AdamW(pruner.parameter_groups(1e-3))
    words = torch.randint(50, (2, 17))
    for _ in range(5):
        loss = F.cross_entropy(net(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        pruner.step()
    plain = pruner.finalize()
    assert plain.head.weight is plain.tokens.weight
