"""The soft gate of a layer in one pass over its numbers (numba, float32 on the CPU); arrays are addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandstop.method.compiled import by_address, compiled

__all__ = ["look_up", "shrink"]

_ZERO = np.float32(0)
_PART = 512  # numbers that are looked up one by one between vector instructions
_FEW = 12  # where less than one in so many passes, each that does is looked up by itself


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


def _one(value: Any, per_unit: Any, heights: Any) -> Any:
    """What ``_look_up`` writes for one number: ``heights`` has the border and the rise of each cell."""
    last = heights.size // 2
    place = min(abs(value) * per_unit, np.float32(last))
    cell = max(min(np.int32(place), np.int32(last - 1)), np.int32(0))
    over = heights[2 * cell] + (place - np.float32(cell)) * heights[2 * cell + 1]
    return np.copysign(_ZERO if over <= _ZERO else over, value)


def _few(
    z: Any, weight: Any, begin: int, here: int, level: Any, per_unit: Any, heights: Any, room: Any
) -> int:
    """``_look_up`` of ``here`` numbers from ``begin`` on where few pass; returns how many that are.

    Without a branch on what passes, which no processor foresees: flags of a byte, eight of them seen at once.
    """
    flags, eights, hit, at = room
    for i in range(here):
        flags[i] = np.uint8(not abs(z[begin + i]) <= level)
        weight[begin + i] = _ZERO
    for i in range(here, _PART):
        flags[i] = 0
    some, passing = np.uint32(0), np.uint32(0)
    for k in range(_PART // 8):
        hit[some] = 8 * k
        some += np.uint32(eights[k] != 0)
    for k in range(some):
        for i in range(8):
            at[passing] = hit[k] + np.uint32(i)
            passing += np.uint32(flags[at[passing]])
    for k in range(passing):
        i = begin + at[k]
        weight[i] = one(z[i], per_unit, heights)
    return int(passing)


def _many(
    z: Any,
    weight: Any,
    begin: int,
    here: int,
    per_unit: Any,
    pairs: Any,
    cell_of: Any,
    place_of: Any,
    pair: Any,
) -> int:
    """``_look_up`` of ``here`` numbers from ``begin`` on where many pass; returns how many that are.

    By vector instructions. ``pairs`` have a cell's border and its rise in one number of eight bytes; the
    last three are room.
    """
    found, last, end = pair.view(np.float32), np.int32(pairs.size - 1), np.float32(pairs.size)
    for i in range(here):
        place = abs(z[begin + i]) * per_unit
        place = end if place > end else place
        cell = max(min(np.int32(place), last), np.int32(0))
        cell_of[i], place_of[i] = cell, place - np.float32(cell)
    for i in range(here):
        pair[i] = pairs[cell_of[i]]
    stopped = np.int32(0)
    for i in range(here):
        over = found[2 * i] + place_of[i] * found[2 * i + 1]
        stopped += np.int32(over <= _ZERO)
        weight[begin + i] = np.copysign(_ZERO if over <= _ZERO else over, z[begin + i])
    return int(here - stopped)


one, few, many = compiled(_one), compiled(_few), compiled(_many)


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
    heights = np.empty(2 * last, np.float32)
    for k in range(last):
        heights[2 * k] = (table[k] - base) * stretch
        heights[2 * k + 1] = (table[k + 1] - table[k]) * stretch
    # Unsigned: no index is counted from the end.
    cell_of, place_of, pair = (
        np.empty(_PART, np.uint32),
        np.empty(_PART, np.float32),
        np.empty(_PART, np.int64),
    )
    flags = np.empty(_PART, np.uint8)
    room = flags, flags.view(np.int64), np.empty(_PART, np.uint32), np.empty(_PART + 1, np.uint32)
    passing = 0  # in the part before, which says what to expect
    for begin in range(0, count, _PART):
        here = min(_PART, count - begin)
        if _FEW * passing <= _PART:
            passing = few(z, weight, begin, here, level, per_unit, heights, room)
        else:
            passing = many(z, weight, begin, here, per_unit, heights.view(np.int64), cell_of, place_of, pair)


_FLOATS = "float32*"
shrink = by_address("void", _FLOATS, _FLOATS, _FLOATS, _FLOATS, "int64")(_shrink)
look_up = by_address("void", *[_FLOATS] * 6, "int64", _FLOATS, "int64")(_look_up)
