"""The surrogates of operations: no name in two files, and small nets through one operation of each."""

from itertools import combinations

import pytest
import torch
from torch import nn

from bandstop.engine.trace import trace
from bandstop.engine.trace.names import ASKING, describe
from bandstop.engine.trace.rules import (
    RULES,
    algebra,
    attention,
    elementwise,
    movement,
    products,
    recurrent,
    reductions,
)

FILES = [attention, elementwise, movement, products, recurrent, reductions]


def test_every_operation_has_one_surrogate() -> None:
    for one, other in combinations(FILES, 2):
        assert not set(one.RULES) & set(other.RULES)
    assert set(RULES) == {name for file in FILES for name in file.RULES}
    assert not set(RULES) & ASKING
    assert algebra.__all__ == sorted(algebra.__all__)


@pytest.mark.parametrize(
    ("operation", "file"),
    [
        (torch.relu_, elementwise),
        (torch.Tensor.transpose, movement),
        (torch.sum, reductions),
        (torch.nn.functional.linear, products),
        (torch.nn.functional.scaled_dot_product_attention, attention),
        (torch.lstm, recurrent),
    ],
)
def test_an_operation_is_found_by_its_name(operation: object, file: object) -> None:
    assert describe(operation)[0] in file.RULES  # type: ignore[arg-type,attr-defined]


def test_a_dead_unit_is_dead_through_every_kind_of_operation() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(3, 4, bias=False), nn.Linear(4, 2, bias=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            hidden = torch.relu(self.first(x)).reshape(-1, 2, 2).transpose(1, 2).flatten(1)
            return self.last(hidden).sum(1, keepdim=True)

    net = Net()
    net.first.weight.data[1] = 0
    found = trace(net, torch.ones(1, 3)).weights
    assert int(found["first.weight"].live.sum()) == 9
    assert found["last.weight"].live[:, 2].tolist() == [False, False]  # unit 1, transposed
