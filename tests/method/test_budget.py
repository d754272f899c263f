"""Budgets: exact numbers, and refusals that say what is possible."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstop.errors import BandstopError, BudgetError
from bandstop.method.budget import Budget, sparse_bytes


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
