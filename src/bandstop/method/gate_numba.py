"""The soft gate of a layer in one pass over its numbers (numba, float32 on the CPU); arrays are addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandstop.method.compiled import by_address

__all__ = ["look_up", "shrink"]

_ZERO = np.float32(0)
_BLOCK = 32  # numbers of which one comparison says whether any passes


def _shrink(latent: Any, gain: Any, threshold: Any, weight: Any, count: int) -> None:
    """``g·sign(ŵ)(|ŵ| − a)₊`` of ``count`` latents into ``weight``; NaN stays NaN.

    >>> import torch
    >>> latent, gain, threshold = torch.tensor([-3.0, 0.5, 2.0]), torch.tensor(0.5), torch.tensor(1.0)
    >>> weight = torch.empty(3)
    >>> shrink(latent.data_ptr(), gain.data_ptr(), threshold.data_ptr(), weight.data_ptr(), 3)
    >>> weight
    tensor([-1.0000,  0.0000,  0.5000])
    """
    factor, level = gain[0], threshold[0]
    for i in range(count):
        value = latent[i]
        inside = value * _ZERO
        weight[i] = (value - level if value > level else value + level if value < -level else inside) * factor


def _look_up(
    z: Any, gain: Any, threshold: Any, cells: Any, scale: Any, table: Any, last: int, weight: Any, count: int
) -> None:
    """``g·sign(z)(t·table(|z|·cells) − t·table(a·cells))₊`` of ``count`` numbers z into ``weight``.

    ``table`` has ``last`` cells and is linear inside a cell; a is the threshold of z. Only what passes is
    looked up. NaN stays NaN.

    >>> import torch
    >>> z, gain, threshold = torch.tensor([-1.5, 0.25, 9.0]), torch.tensor(0.5), torch.tensor(1.0)
    >>> cells, scale, table = torch.tensor(1.0), torch.tensor(2.0), torch.tensor([0.0, 1.0, 4.0])
    >>> weight = torch.empty(3)
    >>> numbers = (z, gain, threshold, cells, scale, table)
    >>> look_up(*(number.data_ptr() for number in numbers), 2, weight.data_ptr(), 3)
    >>> weight
    tensor([-1.5000,  0.0000,  3.0000])
    """
    level, per_unit, stretch, end = threshold[0], cells[0], gain[0] * scale[0], np.float32(last)
    at = min(level * per_unit, end)
    cell = max(min(int(at), last - 1), 0)
    base = table[cell] + (at - np.float32(cell)) * (table[cell + 1] - table[cell])
    cell_of, place_of = np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.float32)
    low, high, whole = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32), count - count % _BLOCK
    for start in range(0, count, _BLOCK):
        here, stopped = min(_BLOCK, count - start), np.int32(0)
        if start < whole:
            for i in range(_BLOCK):  # a fixed number: vector instructions
                stopped += np.int32(abs(z[start + i]) <= level)
                weight[start + i] = _ZERO
        if stopped == _BLOCK:
            continue
        for i in range(here):
            place = abs(z[start + i]) * per_unit
            place = end if place > end else place
            cell_of[i] = max(min(np.int32(place), np.int32(last - 1)), np.int32(0))
            place_of[i] = place - np.float32(cell_of[i])
        for i in range(here):
            low[i], high[i] = table[cell_of[i]], table[cell_of[i] + 1]
        for i in range(here):
            over = low[i] + place_of[i] * (high[i] - low[i]) - base
            over = _ZERO if over <= _ZERO else over * stretch
            weight[start + i] = np.copysign(over, z[start + i])


_FLOATS = "float32*"
shrink = by_address("void", _FLOATS, _FLOATS, _FLOATS, _FLOATS, "int64")(_shrink)
look_up = by_address("void", *[_FLOATS] * 6, "int64", _FLOATS, "int64")(_look_up)
