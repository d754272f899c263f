"""Multiply-accumulates of any network: what a trace counts, and budgets that are spent to the last one."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor, nn

from bandstop import Budget, Pruner, Recipe, trace
from bandstop.engine.select.macs import fill_macs
from bandstop.errors import BudgetError, ModelError


class Branches(nn.Module):
    """Strided, grouped, dilated and padded convolutions, a residual branch, attention and an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(2, 4, 3, stride=2, padding=1)
        self.grouped = nn.Conv2d(4, 4, 3, padding=2, dilation=2, groups=2)
        self.up = nn.ConvTranspose2d(4, 4, 2, stride=2)
        self.attend, self.lstm = (
            nn.MultiheadAttention(4, 2, batch_first=True),
            nn.LSTM(4, 3, batch_first=True),
        )
        self.head = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x).relu()
        x = self.up(x + self.grouped(x)).flatten(2).transpose(1, 2)
        x = x + self.attend(x, x, x, need_weights=False)[0]
        return self.head(self.lstm(x)[0][:, -1])


def literal_macs(net: Branches, size: int) -> dict[str, int]:
    """By loops over output places and kernel entries, padding left out."""

    def taps(n: int, stride: int, padding: int, dilation: int) -> int:
        outputs = (n + 2 * padding - dilation * 2 - 1) // stride + 1
        return sum(0 <= o * stride - padding + k * dilation < n for o in range(outputs) for k in range(3))

    half, length = (size + 1) // 2, 4 * ((size + 1) // 2) ** 2
    return {
        "stem.weight": 2 * 4 * taps(size, 2, 1, 1) ** 2,
        "grouped.weight": 2 * 4 * taps(half, 1, 2, 2) ** 2,
        "up.weight": 4 * 4 * half * half * 4,
        "attend.in_proj_weight": 12 * 4 * length,
        "attend.out_proj.weight": 4 * 4 * length,
        "lstm.weight_ih_l0": 12 * 4 * length,
        "lstm.weight_hh_l0": 12 * 3 * length,
        "head.weight": 3 * 2,
    }


@pytest.mark.parametrize("size", [6, 7])
def test_counts_of_a_network_with_everything(size: int) -> None:
    net = Branches()
    found = trace(net, torch.zeros(1, 2, size, size))
    expected = literal_macs(net, size)
    # an LSTM starts from a zero state, but its first product is a product all the same
    assert {name: weight.macs_dense for name, weight in found.weights.items()} == expected


@pytest.mark.parametrize("macs", [2000, 2001, 4321])
@pytest.mark.parametrize("live", [False, True])
def test_a_budget_is_spent_to_the_last_mac(macs: int, live: bool) -> None:
    torch.manual_seed(0)
    net, example = Branches(), torch.zeros(1, 2, 6, 6)
    pruner = Pruner(net, Budget.macs(macs), steps=4, example=example, recipe=Recipe(live=live, freeze=0.5))
    for _ in range(4):
        pruner.step()
    found = trace(pruner.finalize(), example)
    outcome = pruner.outcome()
    assert outcome.macs == found.macs <= macs
    assert f"{found.macs:,} of {macs:,} MACs" in str(outcome)
    if live:
        assert found.kept == found.live and found.macs > 0.95 * macs
    else:
        assert found.macs == macs


def test_what_cannot_be_paid_to_the_last_is_the_largest_feasible_number_and_said() -> None:
    net, example = (
        nn.Sequential(nn.Conv1d(2, 3, 2, bias=False), nn.Conv1d(3, 2, 1, bias=False)),
        torch.zeros(1, 2, 7),
    )
    pruner = Pruner(net, Budget.macs(50), steps=2, example=example, recipe=Recipe(live=False))
    pruner.finalize()
    outcome = pruner.outcome()
    assert outcome.macs == 48  # every connection costs 6
    assert "48 of 50 MACs, the most that the budget's 50 can pay for" in str(outcome)


@pytest.mark.parametrize("seed", range(6))
def test_filling_against_all_subsets(seed: int) -> None:
    torch.manual_seed(seed)
    costs = {"a": torch.randint(3, 9, (5,)), "b": torch.randint(5, 12, (4,))}
    scores = {name: torch.rand(cost.shape) for name, cost in costs.items()}
    masks = {name: torch.arange(len(cost)) == 0 for name, cost in costs.items()}
    limit = int(torch.randint(25, 50, ()))
    found = fill_macs(masks, scores, costs, limit, floor=1)
    best = 0
    for bits in itertools.product([False, True], repeat=9):
        if any(bits[:5]) and any(bits[5:]):
            spent = int(torch.cat([costs["a"], costs["b"]])[torch.tensor(bits)].sum())
            best = spent if best < spent <= limit else best
    assert sum(int(costs[name][found[name]].sum()) for name in costs) == best
    assert all(bool(mask.any()) for mask in found.values())


def test_unpruned_layers_count_for_the_whole_network() -> None:
    def net() -> nn.Module:
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 4))

    example = torch.zeros(1, 6)
    options = {"steps": 2, "example": example, "layers": ["0.weight"]}
    pruner = Pruner(net(), Budget.macs(70, scope="network"), **options)  # type: ignore[arg-type]
    assert trace(pruner.finalize(), example).macs == pruner.outcome().macs == 70
    assert pruner.outcome().kept == 30
    assert Pruner(net(), Budget.macs(30), **options).finalize() is not None  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="40 MACs are those of weights that are never pruned"):
        Pruner(net(), Budget.macs(40, scope="network"), **options)  # type: ignore[arg-type]


def test_tables_that_are_looked_up_cost_nothing() -> None:
    torch.manual_seed(0)
    model, example = nn.Sequential(nn.Embedding(9, 6), nn.Linear(6, 4)), torch.zeros(1, 3, dtype=torch.long)
    pruner = Pruner(model, Budget.macs(30), steps=2, example=example, recipe=Recipe(live=False))
    found = trace(pruner.finalize(), example)
    assert found.macs == 30 == 3 * found.weights["1.weight"].kept
    assert 0 < found.weights["0.weight"].kept < 54


def test_unknown_operations_are_named_before_anything_is_touched() -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x: Tensor) -> Tensor:
            return torch.linalg.qr(self.inner(x))[0]

    model = Odd()
    with pytest.raises(ModelError, match=r"'linalg_qr' in module 'the model itself' \(Odd\)"):
        Pruner(model, Budget.macs(8), steps=2, example=torch.zeros(1, 4, 4))
    assert type(model.inner) is nn.Linear
