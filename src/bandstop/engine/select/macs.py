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

from bandstop.engine.select.topk import descending_order, select

__all__ = ["fill_flat", "fill_macs", "nearest_sum"]

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
    sizes = [masks[name].numel() for name in names]
    mask, score, cost = (_joined(part, names) for part in (masks, scores, costs))
    may = None if addable is None else _joined(addable, names)
    parts = torch.split(fill_flat(mask, score, cost, most, sizes, floor=floor, addable=may), sizes)
    return {name: part.reshape(masks[name].shape) for name, part in zip(names, parts, strict=True)}


def _joined(parts: Mapping[str, Tensor], names: Sequence[str]) -> Tensor:
    return torch.cat([parts[name].reshape(-1) for name in names])


def fill_flat(
    mask: Tensor,
    score: Tensor,
    cost: Tensor,
    most: int,
    sizes: Sequence[int],
    *,
    floor: int = 1,
    addable: Tensor | None = None,
) -> Tensor:
    """The same for layers of these ``sizes`` that lie one behind the other."""
    free = ~mask & (cost > 0) & (score > -torch.inf)
    if addable is not None:
        free &= addable
    room = most - int(cost[mask].sum())
    mask = mask | _best_that_fit(free, score, cost, room)
    free &= ~mask
    if addable is not None:
        return _swapped(mask, free, torch.zeros_like(mask), score, cost, most)
    return _swapped(mask, free, _loose(mask, score, sizes, floor), score, cost, most)


def _best_that_fit(free: Tensor, score: Tensor, cost: Tensor, room: int) -> Tensor:
    """The best-scored ``free`` connections, in order, as long as they cost no more than ``room``."""
    added, positions = torch.zeros_like(free), free.nonzero().flatten()
    if not len(positions):
        return added
    fit = max(room, 0) // int(cost[positions].min())  # no more than these need be sorted
    if fit < len(positions):
        positions = positions[select(score[positions], fit)]
    order = positions[descending_order(score[positions])]
    added[order[cost[order].cumsum(0) <= room]] = True
    return added


def _swapped(mask: Tensor, free: Tensor, loose: Tensor, score: Tensor, cost: Tensor, most: int) -> Tensor:
    """``mask`` with ``free`` connections exchanged for ``loose`` ones to spend as much as possible."""
    room = most - int(cost[mask].sum())
    if not loose.any():  # what costs too much cannot be paid for by dropping another
        free = free & (cost <= room)
    kinds = _distinct(cost[free | loose])
    unit = math.gcd(*kinds) if kinds else 1
    if room < unit:
        return mask
    used = kinds[:CLASSES]
    rising, falling = _by_cost(free, cost, used), _by_cost(loose, cost, used)
    tried, size = 0, 4
    while tried < 12:
        adds = [_best(among, score, size) for among in rising]
        drops = [_best(among, -score, size) for among in falling]
        fewer, more = [len(d) for d in drops], [len(a) for a in adds]
        scaled = [c // unit for c in used]
        if sum((f + m) * c for f, m, c in zip(fewer, more, scaled, strict=True)) > POOL:
            return mask
        steps = nearest_sum(scaled, fewer, more, room // unit)
        gained = unit * sum(d * c for d, c in zip(steps, scaled, strict=True))
        everything = max(fewer + more, default=0) < size
        if gained == room // unit * unit or everything or 2 * size * sum(scaled) > POOL:
            result = mask.clone()
            for add, drop, step in zip(adds, drops, steps, strict=True):
                result[add[: max(step, 0)]] = True
                result[drop[: max(-step, 0)]] = False
            return result
        tried, size = tried + 1, 2 * size
    return mask


def _distinct(costs: Tensor) -> list[int]:
    """The different costs above zero, ascending."""
    if not len(costs):
        return []
    small = int(costs.max()) < len(costs)
    found = torch.bincount(costs).nonzero() if small else torch.unique(costs)
    return [int(c) for c in found.flatten().tolist() if c > 0]


def _by_cost(among: Tensor, cost: Tensor, kinds: Sequence[int]) -> list[Tensor]:
    """Positions of the connections ``among`` some, for each cost of ``kinds``."""
    positions = among.nonzero().flatten()
    ascending, order = cost[positions].sort(stable=True)
    wanted = torch.tensor(kinds, dtype=ascending.dtype, device=ascending.device)
    begins, ends = (torch.searchsorted(ascending, wanted, right=after).tolist() for after in (False, True))
    return [positions[order[begin:end]] for begin, end in zip(begins, ends, strict=True)]


def _best(among: Tensor, score: Tensor, count: int) -> Tensor:
    """The ``count`` best-scored of some positions, the best first."""
    if count < len(among):
        among = among[select(score[among], count)]
    return among[descending_order(score[among])]


def _loose(mask: Tensor, score: Tensor, sizes: Sequence[int], floor: int) -> Tensor:
    """Kept connections that may go: all but each layer's best ``floor``."""
    loose = mask.clone()
    for part, scores in zip(torch.split(loose, list(sizes)), torch.split(score, list(sizes)), strict=True):
        positions = part.nonzero().flatten()
        part[positions[select(scores[positions], floor)]] = False
    return loose
