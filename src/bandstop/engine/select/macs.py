"""Spending a budget of multiply-accumulates to the last one: which connections to add, and which to swap.

Connections cost what the trace says: an entry of a kernel as many multiply-accumulates as the kernel has
positions, fewer at a padded border. A mask within the budget is filled up with the best connections that it
lacks. What is left then is less than one of them costs and is spent by a few swaps: a bounded subset sum over
the connections with scores next to the last one kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

__all__ = ["fill_macs", "nearest_sum"]

POOL = 1 << 26
"""Bits of a set of sums, at most: 8 MB."""
CLASSES = 64
"""Different costs that take part in swaps, at most, the smallest first."""


def nearest_sum(costs: Sequence[int], fewer: Sequence[int], more: Sequence[int], room: int) -> list[int]:
    """Whole numbers δ_i in [−fewer_i, more_i] with the largest ``Σ δ_i·cost_i ≤ room``.

    Later ones stay near zero. Sets of sums are the bits of whole numbers: adding n connections of a cost is a
    few shifts.

    >>> nearest_sum([6, 4], [1, 1], [3, 3], 8), nearest_sum([6, 4], [0, 0], [3, 3], 3)
    ([2, -1], [0, 0])
    >>> nearest_sum([5, 3], [2, 2], [2, 2], 1)
    [-1, 2]
    """
    base = sum(f * c for f, c in zip(fewer, costs, strict=True))
    cap, reached = (1 << (base + room + 1)) - 1, [1]
    for cost, down, up in zip(costs, fewer, more, strict=True):
        sums, left, step = reached[-1], down + up, 1
        while left:
            step = min(step, left)
            sums |= (sums << (step * cost)) & cap
            left, step = left - step, 2 * step
        reached.append(sums)
    total, chosen = reached[-1].bit_length() - 1, []
    for cost, down, up, sums in reversed(list(zip(costs, fewer, more, reached[:-1], strict=True))):
        counts = sorted(range(down + up + 1), key=lambda k: abs(k - down))
        taken = next(k for k in counts if k * cost <= total and sums >> (total - k * cost) & 1)
        chosen.append(taken - down)
        total -= taken * cost
    return chosen[::-1]


def fill_macs(
    masks: Mapping[str, Tensor],
    scores: Mapping[str, Tensor],
    costs: Mapping[str, Tensor],
    most: int,
    *,
    floor: int = 1,
    addable: Mapping[str, Tensor] | None = None,
) -> dict[str, Tensor]:
    """``masks``, which cost ``most`` or less, changed so that they cost as much of it as can be.

    ``scores`` say which connections to add first; with ``addable`` only those may be added, and none is
    removed.

    >>> mask, score = torch.tensor([True, False, False]), torch.tensor([0.0, -1.0, -2.0])
    >>> fill_macs({"a": mask}, {"a": score}, {"a": torch.tensor([2, 2, 5])}, 8)["a"].tolist()
    [True, False, True]
    """
    names = list(masks)
    mask, score, cost = (
        torch.cat([part[name].reshape(-1) for name in names]) for part in (masks, scores, costs)
    )
    free = ~mask & (cost > 0) & (score > -torch.inf)
    if addable is not None:
        free &= torch.cat([addable[name].reshape(-1) for name in names])
    room = most - int(cost[mask].sum())
    mask = mask | _best_that_fit(free, score, cost, room)
    floors = None if addable is not None else [(masks[name].numel(), floor) for name in names]
    mask = _swapped(mask, free & ~mask, score, cost, most, floors)
    parts = torch.split(mask, [masks[name].numel() for name in names])
    return {name: part.reshape(masks[name].shape) for name, part in zip(names, parts, strict=True)}


def _best_that_fit(free: Tensor, score: Tensor, cost: Tensor, room: int) -> Tensor:
    """The best-scored ``free`` connections, in order, as long as they cost no more than ``room``."""
    added, positions = torch.zeros_like(free), free.nonzero().flatten()
    order = positions[score[positions].sort(descending=True, stable=True).indices]
    added[order[cost[order].cumsum(0) <= room]] = True
    return added


def _swapped(
    mask: Tensor, free: Tensor, score: Tensor, cost: Tensor, most: int, floors: list[tuple[int, int]] | None
) -> Tensor:
    """``mask`` with a few connections exchanged so that as much of ``most`` as possible is spent."""
    room = most - int(cost[mask].sum())
    kinds = [int(c) for c in torch.unique(cost[free | mask]).tolist() if c > 0]
    unit = math.gcd(*kinds) if kinds else 1
    loose = _loose(mask, score, floors)
    tried, size = 0, 4
    while room >= unit and tried < 12:
        adds = {c: _first(free & (cost == c), score, size, descending=True) for c in kinds[:CLASSES]}
        drops = {c: _first(loose & (cost == c), score, size, descending=False) for c in kinds[:CLASSES]}
        fewer, more = [len(drops[c]) for c in adds], [len(adds[c]) for c in adds]
        scaled = [c // unit for c in adds]
        if sum((f + m) * c for f, m, c in zip(fewer, more, scaled, strict=True)) > POOL:
            return mask
        steps = nearest_sum(scaled, fewer, more, room // unit)
        gained = unit * sum(d * c for d, c in zip(steps, scaled, strict=True))
        everything = max(fewer + more, default=0) < size
        if gained == room // unit * unit or everything or 2 * size * sum(scaled) > POOL:
            result = mask.clone()
            for c, step in zip(adds, steps, strict=True):
                result[adds[c][: max(step, 0)]] = True
                result[drops[c][: max(-step, 0)]] = False
            return result
        tried, size = tried + 1, 2 * size
    return mask


def _first(among: Tensor, score: Tensor, count: int, *, descending: bool) -> Tensor:
    positions = among.nonzero().flatten()
    return positions[score[positions].sort(descending=descending, stable=True).indices[:count]]


def _loose(mask: Tensor, score: Tensor, floors: list[tuple[int, int]] | None) -> Tensor:
    """Kept connections that may go: all but each layer's best ``floor``."""
    loose = torch.zeros_like(mask)
    start = 0
    for size, floor in floors or []:
        part = slice(start, start + size)
        positions = mask[part].nonzero().flatten()
        order = score[part][positions].sort(descending=True, stable=True).indices
        loose[part][positions[order[floor:]]] = True
        start += size
    return loose
