"""Budgets: exact numbers, and refusals that say what is possible."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from bandstop.engine.select.allocation import allocate, lamp_scores, pooled, share
from bandstop.engine.select.bound_budget import Target
from bandstop.errors import BandstopError, BudgetError, ConfigError
from bandstop.method.budget import Budget, sparse_bytes

sizes = st.lists(st.integers(1, 500), min_size=1, max_size=6)


@given(sizes, st.data())
def test_shares_add_up_and_stay_in_bounds(sizes: list[int], data: st.DataObject) -> None:
    wishes = data.draw(st.lists(st.floats(0.001, 1000), min_size=len(sizes), max_size=len(sizes)))
    total = data.draw(st.integers(len(sizes), sum(sizes)))
    counts = share(wishes, sizes, total)
    assert sum(counts) == total
    assert all(1 <= c <= n for c, n in zip(counts, sizes, strict=True))


@given(sizes, st.data(), st.sampled_from(["learned", "uniform", "erk", "lamp", "given"]))
def test_every_rule_adds_up(sizes: list[int], data: st.DataObject, rule: str) -> None:
    total = data.draw(st.integers(len(sizes), sum(sizes)))
    generator = torch.Generator().manual_seed(total)
    layers = {str(i): torch.randn(n, generator=generator) for i, n in enumerate(sizes)}
    counts = allocate(rule, total, layers)
    assert sum(counts.values()) == total
    assert all(1 <= counts[k] <= layers[k].numel() for k in layers)


def test_pooled_keeps_the_best_of_all_layers() -> None:
    a, b = torch.tensor([9.0, 8.0, 7.0]), torch.tensor([1.0, 2.0])
    assert pooled([a, b], 4) == [3, 1]
    assert pooled([a, b], 3, floor=0) == [3, 0]


def test_lamp_against_plain_loops() -> None:
    w = torch.randn(50, dtype=torch.float64).abs()
    plain = [float(x**2 / sum(y**2 for y in w if y >= x)) for x in w]
    assert torch.allclose(lamp_scores(w), torch.tensor(plain, dtype=torch.float64))


def test_given_densities_must_name_layers() -> None:
    with pytest.raises(ConfigError, match=r"\['z'\]"):
        allocate("given", 2, {"a": torch.ones(4)}, given={"z": 1.0})


@given(st.integers(2, 10**6), st.floats(0, 0.999))
def test_a_rate_is_met_to_the_weight(n: int, rate: float) -> None:
    kept = round((1 - rate) * n)
    if kept < 1:
        with pytest.raises(BudgetError):
            Budget.rate(rate).connections(prunable=n)
    else:
        assert Budget.rate(rate).connections(prunable=n) == kept


@given(st.integers(1, 10**5), st.integers(0, 10**3))
def test_bytes_never_exceed(asked: int, unpruned: int) -> None:
    budget = Budget.bytes(asked)
    try:
        kept = budget.connections(prunable=10**6, unpruned=unpruned)
    except BudgetError as error:
        least = int(re.search(r"is ([\d,]+) bytes", str(error)).group(1).replace(",", ""))  # type: ignore[union-attr]
        assert Budget.bytes(least).connections(prunable=10**6, unpruned=unpruned) == 1
        assert asked < least
    else:
        assert sparse_bytes(kept, unpruned) <= asked < sparse_bytes(kept + 1, unpruned)


@pytest.mark.parametrize("bad", [("rate", 1.0), ("rate", -0.1), ("weights", 0), ("bytes", 2.5), ("macs", 0)])
def test_nonsense_is_refused(bad: tuple[str, float]) -> None:
    with pytest.raises(BudgetError):
        Budget(bad[0], bad[1])  # type: ignore[arg-type]


def test_the_offered_smallest_rate_is_possible() -> None:
    with pytest.raises(BudgetError) as refused:
        Budget.rate(0.99995).connections(prunable=39_400, smallest=4)
    offered = float(re.search(r"at most ([\d.]+)", str(refused.value)).group(1))  # type: ignore[union-attr]
    assert Budget.rate(offered).connections(prunable=39_400, smallest=4) >= 4


@given(st.integers(20, 3000))
def test_macs_are_filled_to_the_largest_feasible_number(asked: int) -> None:
    sizes, uses = {"a": 100, "b": 50, "c": 80}, {"a": 16, "b": 21, "c": 1}
    budget = Budget.macs(asked)
    smallest = sum(uses.values())
    if asked < smallest:
        with pytest.raises(BandstopError, match=str(smallest)):
            budget.fit_macs({"a": 10, "b": 10, "c": 10}, uses, sizes)
        return
    counts = budget.fit_macs({"a": 10, "b": 10, "c": 10}, uses, sizes)
    spent = sum(counts[k] * uses[k] for k in counts)
    assert spent <= asked
    full = all(counts[k] == sizes[k] for k in counts)
    assert spent == asked or full or asked - spent < min(uses[k] for k in counts if counts[k] < sizes[k])


def test_erk_takes_heads_for_matrices_and_kernels_for_kernels() -> None:
    heads = nn.Module()
    heads.matrices = nn.Parameter(torch.ones(4, 10, 10))
    net = nn.Sequential(heads, nn.Conv1d(10, 10, 4))
    weights = {"0.matrices": net[0].matrices, "1.weight": net[1].weight}
    target = Target.of(net, weights, Budget.weights(104), 1, None)
    assert target.stacked == {"0.matrices"}
    found = allocate("erk", 104, weights, stacked=target.stacked)
    assert found == {"0.matrices": 80, "1.weight": 24}  # 4·(10 + 10) and 10 + 10 + 4
