"""Counts per layer: they add up, stay in bounds, and are those of the whole order where there is one."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from bandstop.engine.select.allocation import (
    LampAllocation,
    allocate,
    apportion,
    lamp_scores,
    pooled_counts,
)
from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.errors import BudgetError, ConfigError
from bandstop.method.budget import Budget
from bandstop.method.priors import prior, prior_magnitudes

SIZES = [1536, 3528, 4096, 1000, 1000, 37, 3, 24192]
sizes = st.lists(st.integers(1, 500), min_size=1, max_size=6)


@given(sizes, st.data())
def test_shares_add_up_and_stay_in_bounds(sizes: list[int], data: st.DataObject) -> None:
    wishes = data.draw(st.lists(st.floats(0.001, 1000), min_size=len(sizes), max_size=len(sizes)))
    total = data.draw(st.integers(len(sizes), sum(sizes)))
    counts = apportion(wishes, sizes, total)
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
    assert pooled_counts([a, b], 4) == [3, 1]
    assert pooled_counts([a, b], 3, floor=0) == [3, 0]


def test_lamp_against_plain_loops() -> None:
    w = torch.randn(50, dtype=torch.float64).abs()
    plain = [float(x**2 / sum(y**2 for y in w if y >= x)) for x in w]
    assert torch.allclose(lamp_scores(w), torch.tensor(plain, dtype=torch.float64))


def test_given_densities_must_name_layers() -> None:
    with pytest.raises(ConfigError, match=r"\['z'\]"):
        allocate("given", 2, {"a": torch.ones(4)}, given={"z": 1.0})


def test_erk_takes_heads_for_matrices_and_kernels_for_kernels() -> None:
    heads = nn.Module()
    heads.matrices = nn.Parameter(torch.ones(4, 10, 10))
    net = nn.Sequential(heads, nn.Conv1d(10, 10, 4))
    weights = {"0.matrices": net[0].matrices, "1.weight": net[1].weight}
    bound = BoundBudget.of(net, weights, Budget.weights(104), 1, None)
    assert bound.stacked == {"0.matrices"}
    found = allocate("erk", 104, weights, stacked=bound.stacked)
    assert found == {"0.matrices": 80, "1.weight": 24}  # 4·(10 + 10) and 10 + 10 + 4


class PooledOrder:
    """All layers' scores in one descending order: how many of the best N fall into each layer, for any N.

    Each layer's ``floor`` best come first, so that no layer is left empty.

    >>> order = PooledOrder([torch.tensor([3.0, 1.0]), torch.tensor([2.0, 0.5, 0.4])])
    >>> order.counts(2), order.counts(3), order.counts(4)
    ([1, 1], [2, 1], [2, 2])
    """

    def __init__(self, scores: Sequence[Tensor], floor: int = 1) -> None:
        self.sizes, self.floor = [s.numel() for s in scores], floor
        lifted = [_lifted(s.flatten().float(), floor) for s in scores]
        layer = torch.repeat_interleave(torch.arange(len(scores)), torch.tensor(self.sizes))
        self.layer = layer.to(lifted[0].device)[torch.cat(lifted).sort(descending=True, stable=True).indices]

    def counts(self, total: int) -> list[int]:
        """Connections per layer when the ``total`` best are kept."""
        return [int(c) for c in torch.bincount(self.layer[:total], minlength=len(self.sizes)).tolist()]


def _lifted(flat: Tensor, floor: int) -> Tensor:
    """Scores with the ``floor`` best raised above everything."""
    flat = flat.clone()
    flat[flat.topk(min(floor, flat.numel())).indices] = torch.inf
    return flat


@pytest.mark.parametrize("floor", [0, 1, 3])
def test_pooled_counts_are_those_of_the_whole_order(floor: int) -> None:
    generator = torch.Generator().manual_seed(0)
    scores = [(torch.rand(n, generator=generator) * 9).round() for n in (40, 7, 2)]  # many ties
    whole = PooledOrder(scores, floor)
    for total in range(sum(min(floor, len(s)) for s in scores), 50):
        assert pooled_counts(scores, total, floor) == whole.counts(total)


def test_totals_that_cannot_be_are_refused() -> None:
    for total in (1, 8):
        with pytest.raises(BudgetError, match=f"between 2 .* and 7 connections is needed, found {total}"):
            apportion([1.0, 1.0], [3, 4], total)


@pytest.mark.parametrize("name", ["laplace", "gaussian", "uniform", "student"])
@pytest.mark.parametrize("floor", [0, 1, 5])
def test_shares_by_lamp_are_those_of_the_whole_order(name: str, floor: int) -> None:
    shape = prior(name, 1.0)
    whole = PooledOrder([lamp_scores(prior_magnitudes(shape, n)) for n in SIZES], floor)
    brief = LampAllocation(shape, {str(i): n for i, n in enumerate(SIZES)}, floor)
    least = sum(min(floor, n) for n in SIZES)
    for total in (least, least + 1, least + 7, 50, 101, 999, 5000, 20_000, sum(SIZES) - 1, sum(SIZES)):
        assert list(brief(total).values()) == whole.counts(total)


def test_layers_of_one_size_share_their_scores() -> None:
    sizes = {str(i): n for i, n in enumerate([5000] * 40 + [70])}
    assert len(LampAllocation(prior("laplace", 1.0), sizes).bits) == 2
