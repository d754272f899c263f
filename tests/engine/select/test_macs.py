"""Spending multiply-accumulates to the last one, against trying everything."""

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bandstop.engine.select.macs import fill_macs, nearest_sum


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=3),
    st.integers(0, 20),
)
@settings(deadline=None, max_examples=80)
def test_the_nearest_sum_is_the_nearest(kinds: list[tuple[int, int, int]], room: int) -> None:
    costs, fewer, more = (list(column) for column in zip(*kinds, strict=True))
    steps = nearest_sum(costs, fewer, more, room)
    assert all(-f <= step <= m for step, f, m in zip(steps, fewer, more, strict=True))
    ranges = [range(-f, m + 1) for f, m in zip(fewer, more, strict=True)]
    sums = [sum(d * c for d, c in zip(deltas, costs, strict=True)) for deltas in product(*ranges)]
    best = max(total for total in sums if total <= room)
    assert sum(d * c for d, c in zip(steps, costs, strict=True)) == best


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=40)
def test_masks_are_filled_as_far_as_costs_allow(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    cost = torch.randint(1, 5, (9,), generator=generator)
    score = torch.rand(9, generator=generator)
    mask = torch.rand(9, generator=generator) < 0.3
    most = int(cost[mask].sum()) + int(torch.randint(0, 12, (), generator=generator))
    filled = fill_macs({"a": mask}, {"a": score}, {"a": cost}, most, floor=0)["a"]
    spent = int(cost[filled].sum())
    every = [
        total
        for chosen in product([False, True], repeat=9)
        if (total := int(cost[torch.tensor(chosen)].sum())) <= most
    ]
    assert spent == max(every)


def test_with_addable_nothing_is_removed_and_nothing_else_is_added() -> None:
    mask, addable = torch.tensor([True, False, False, False]), torch.tensor([False, True, False, False])
    cost, score = torch.tensor([3, 2, 1, 4]), torch.arange(4.0)
    filled = fill_macs({"a": mask}, {"a": score}, {"a": cost}, 8, addable={"a": addable})["a"]
    assert filled.tolist() == [True, True, False, False]


def test_the_floor_of_a_layer_is_not_swapped_away() -> None:
    masks = {"a": torch.tensor([True, False]), "b": torch.tensor([True, False])}
    costs = {"a": torch.tensor([5, 5]), "b": torch.tensor([3, 3])}
    scores = {name: torch.tensor([0.0, -1.0]) for name in masks}
    filled = fill_macs(masks, scores, costs, 11, floor=1)
    assert all(bool(mask.any()) for mask in filled.values())
    assert sum(int(costs[name][filled[name]].sum()) for name in masks) == 11


@pytest.mark.parametrize("room", [0, 1])
def test_free_of_cost_connections_are_left_alone(room: int) -> None:
    mask, cost = torch.tensor([True, False]), torch.tensor([1, 0])
    filled = fill_macs({"a": mask}, {"a": torch.zeros(2)}, {"a": cost}, 1 + room)["a"]
    assert filled.tolist() == [True, False]
