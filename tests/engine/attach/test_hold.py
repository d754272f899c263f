"""The zeros of a finished network are held while it trains on."""

from typing import Any

import pytest
import torch

from bandstop import Pruner, hold
from bandstop.errors import ModelError
from tests.engine.small_nets import kept, mlp, pair, train


@pytest.mark.parametrize("make", [torch.optim.AdamW, torch.optim.SGD], ids=["AdamW", "SGD"])
def test_a_finished_network_trains_on_with_its_zeros(make: Any) -> None:
    model = mlp()
    pruner = Pruner(model, 0.9, steps=10)
    train(model, pruner, 10)
    model = pruner.finalize()
    before = kept(model)
    held = hold(model)
    optimiser = make(model.parameters(), lr=0.05, weight_decay=0.1)
    for _ in range(5):
        optimiser.zero_grad()
        model(torch.randn(16, 12)).square().mean().backward()
        optimiser.step()
    assert kept(model) == before
    held.release()
    model(torch.randn(16, 12)).square().mean().backward()
    optimiser.step()
    assert kept(model) > before
    held.restore()
    assert kept(model) == before


def test_there_must_be_zeros_to_hold() -> None:
    with pytest.raises(ModelError, match="no trained weight with exact zeros"):
        hold(pair())
    model = pair()
    Pruner(model, 0.5, steps=4)
    with pytest.raises(ModelError, match="still parametrised"):
        hold(model)
    with pytest.raises(ModelError, match="found str"):
        hold("model")  # type: ignore[arg-type]
