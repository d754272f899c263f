"""A budget bound to a network: totals along the ramp, MACs, refusals before anything is touched."""

from collections.abc import Mapping
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from bandstop.engine.select.allocation import allocate
from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.errors import BudgetError
from bandstop.method.budget import Budget

SIZES = {"a": 300, "b": 80, "c": 20}
LATENTS: Mapping[str, Tensor] = {name: torch.randn(n) for name, n in SIZES.items()}


def bound(budget: Budget, **changes: object) -> BoundBudget:
    given_fields = {"sizes": SIZES, "unpruned": 30, "floor": 1, "uses": {"a": 16, "b": 4, "c": 1}}
    return BoundBudget(budget, **(given_fields | changes))  # type: ignore[arg-type]


@given(st.floats(0, 1), st.integers(3, 400))
@settings(deadline=None, max_examples=40)
def test_the_ramp_runs_from_all_weights_to_the_budget(ramp: float, kept: int) -> None:
    here = bound(Budget.weights(kept))
    assert here.total(0.0) == here.prunable == 400 and here.total(1.0) == here.connections == kept
    assert kept <= here.total(ramp) <= 400
    counts = here.counts(ramp, partial(allocate, "uniform"), LATENTS)
    assert sum(counts.values()) == here.total(ramp)


@given(st.floats(0, 1), st.integers(21, 5500))
@settings(deadline=None, max_examples=40)
def test_macs_are_never_exceeded_and_the_cheapest_layer_uses_what_is_left(ramp: float, macs: int) -> None:
    here = bound(Budget.macs(macs))
    dense = sum(here.uses[name] * size for name, size in SIZES.items())
    counts = here.counts(ramp, partial(allocate, "learned"), LATENTS)
    spent = sum(counts[name] * here.uses[name] for name in counts)
    asked = round(dense - ramp * (dense - min(macs, dense)))
    assert spent <= asked and (spent in (asked, dense) or counts["c"] == SIZES["c"])


def test_scope_network_pays_for_what_is_never_pruned_first() -> None:
    assert bound(Budget.weights(100, scope="network")).connections == 70
    with pytest.raises(BudgetError, match="33 weights"):
        bound(Budget.weights(30, scope="network"))
    with pytest.raises(BudgetError, match="are those of weights that are never pruned"):
        bound(Budget.macs(50), fixed_macs=50)


def test_costs_are_counted_on_the_example() -> None:
    net = nn.Sequential(nn.Conv1d(1, 2, 3, padding=1), nn.Flatten(), nn.Linear(10, 4))
    weights = {"0.weight": net[0].weight, "2.weight": net[2].weight}
    with pytest.raises(BudgetError, match="give example="):
        BoundBudget.of(net, weights, Budget.macs(40), 1, None)
    here = BoundBudget.of(net, weights, Budget.macs(40), 1, torch.ones(1, 1, 5))
    assert here.uses == {"0.weight": 5, "2.weight": 1}
    assert here.costs["0.weight"][0, 0].tolist() == [4, 5, 4]  # padding costs nothing
    assert here.macs({name: torch.ones_like(weight).bool() for name, weight in weights.items()}) == 66
