"""The map to a prior by rank in three passes over the values (numba, float32 on the CPU); arrays are
addresses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bandstop.method.compiled import by_address, compiled

__all__ = ["LOOPS", "count_cells", "measure", "move"]

_BLOCK, _PART = 256, 512  # values located by vector instructions before they are looked up one by one
_ZERO, _MAGNITUDE = np.float32(0), np.int32(0x7FFFFFFF)


def _measure(values: Any, bits: Any, count: int, largest: Any) -> float:
    """The mean magnitude of ``values``; the bits of the largest to ``largest``. ``bits`` is the same address.

    >>> import torch
    >>> values, largest = torch.tensor([3.0, -1.0]), torch.empty((), dtype=torch.int32)
    >>> measure(values.data_ptr(), values.data_ptr(), 2, largest.data_ptr()), largest.view(torch.float32)
    (2.0, tensor(3.))
    """
    found, total = np.int32(0), 0.0
    for start in range(0, count, 4096):  # sums of a few thousand are as good in float32
        part, most = _ZERO, np.int32(0)
        for i in range(start, min(start + 4096, count)):
            part += abs(values[i])
            most = max(most, bits[i] & _MAGNITUDE)  # ordered as the magnitudes are, and NaN above all
        total += float(part)
        found = max(found, most)
    largest[0] = found
    return total / count


def _count_cells(values: Any, count: int, per_unit: float, cells: int, below: Any) -> None:
    """How many values lie below each of the ``cells`` + 1 borders of cells around zero, to ``below``.

    >>> import torch
    >>> values, below = torch.tensor([-1.5, 0.5, 0.7, 1.5]), torch.empty(2 * 5, dtype=torch.int32)
    >>> count_cells(values.data_ptr(), 4, 1.0, 4, below.data_ptr())
    >>> below[:5].tolist()
    [0, 1, 1, 3, 4]
    """
    scale, middle, last = np.float32(per_unit), np.float32(cells // 2), np.int32(cells - 1)
    size, cell = cells + 1, np.empty(_BLOCK, np.int32)
    for k in range(2 * size):
        below[k] = 0
    for start in range(0, count, _BLOCK):
        here = min(_BLOCK, count - start)
        for i in range(here):
            cell[i] = min(max(np.int32(values[start + i] * scale + middle), np.int32(0)), last) + 1
        for i in range(here // 2):  # two tables: neighbours that share a cell would wait for each other
            below[cell[2 * i]] += 1
            below[size + cell[2 * i + 1]] += 1
        if here % 2:
            below[cell[here - 1]] += 1
    for k in range(cells):
        below[k + 1] += below[k] + below[size + k + 1]


def _move(values: Any, count: int, per_unit: float, cells: int, ends: Any, fraction: float) -> float:
    """``x ← (1 − ρ)·x + ρ·T(x)``, T linear in a cell; returns the new mean magnitude. NaN stays NaN.

    ``ends`` has what T is at the first end of each cell, and then what it is at the last end of each.

    >>> import torch
    >>> ends = torch.tensor([[-8.0, -4.0, 0.0, 4.0], [-4.0, 0.0, 4.0, 8.0]])
    >>> values = torch.tensor([-1.5, 0.5])
    >>> move(values.data_ptr(), 2, 1.0, 4, ends.data_ptr(), 0.5)
    2.5
    >>> values
    tensor([-3.7500,  1.2500])
    """
    scale, middle, last = np.float32(per_unit), np.float32(cells // 2), np.int32(cells - 1)
    part, rest, total = np.float32(fraction), np.float32(1 - fraction), 0.0
    heights = np.empty(2 * cells, np.float32)
    for k in range(cells):
        heights[2 * k], heights[2 * k + 1] = part * ends[k], part * (ends[cells + k] - ends[k])
    # A cell's first end and its rise in one number of eight bytes; unsigned: nothing is counted from the end.
    pairs, pair = heights.view(np.int64), np.empty(_PART, np.int64)
    found, cell, place = pair.view(np.float32), np.empty(_PART, np.uint32), np.empty(_PART, np.float32)
    for start in range(0, count, _PART):
        here, subtotal = min(_PART, count - start), _ZERO
        for i in range(here):
            along = values[start + i] * scale + middle
            at = min(max(np.int32(along), np.int32(0)), last)
            cell[i], place[i] = at, along - np.float32(at)
        for i in range(here):
            pair[i] = pairs[cell[i]]
        for i in range(here):
            now = rest * values[start + i] + (found[2 * i] + place[i] * found[2 * i + 1])
            values[start + i] = now
            subtotal += abs(now)
        total += float(subtotal)
    return total / count


LOOPS = compiled(_measure), compiled(_count_cells), compiled(_move)
"""The three to be called inside other loops."""
measure = by_address("float64", "float32*", "int32*", "int64", "int32*")(_measure)
count_cells = by_address("void", "float32*", "int64", "float64", "int64", "int32*")(_count_cells)
move = by_address("float64", "float32*", "int64", "float64", "int64", "float32*", "float64")(_move)
