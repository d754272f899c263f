"""Layers of PyTorch Geometric: trained, copied, saved, counted."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from bandstop import Pruner, trace
from tests.engine.networks.training_for_tests import train_and_check

geometric = pytest.importorskip("torch_geometric.nn")

EDGES = torch.tensor([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]])


class Net(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        layer = getattr(geometric, kind)
        self.first, self.last = layer(6, 16), layer(16, 3)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        return self.last(self.first(x, edges).tanh(), edges)


@pytest.mark.parametrize("kind", ["GCNConv", "SAGEConv", "GATConv", "GATv2Conv"])
def test_training_copies_and_states(kind: str) -> None:
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    model = Net(kind)
    pruner = train_and_check(model, (x, EDGES), rate=0.7, example=(x, EDGES))
    assert pruner.outcome().live == pruner.kept
    fresh = Net(kind)
    fresh.load_state_dict(model.state_dict(), strict=True)
    assert torch.equal(fresh(x, EDGES), model(x, EDGES))
    other = Pruner(fresh, 0.9, steps=10)
    twin = copy.deepcopy(fresh)
    twin.load_state_dict(fresh.state_dict(), strict=True)
    assert torch.equal(twin(x, EDGES), fresh(x, EDGES))
    assert not any(key.endswith("lin.weight") for key in fresh.state_dict())
    other.finalize()


def test_multiplications_of_a_graph_convolution() -> None:
    found = trace(Net("GCNConv"), (torch.randn(4, 6), EDGES))
    assert found.macs_dense == 4 * 6 * 16 + 4 * 16 * 3
