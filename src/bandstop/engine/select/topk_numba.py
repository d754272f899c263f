"""The exact k-th smallest magnitude in two reads of the weights, and of few of them after (numba, float32).

Radix select: non-negative floats sort like their bit patterns. Count the top digit, keep the bucket that
holds rank k, repeat with the next digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from bandstop.method.compiled import by_address, compiled

__all__ = ["kth_between", "kth_magnitude"]

_Bits = np.ndarray[Any, np.dtype[np.int32]]
_Counts = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
_MAGNITUDE = np.int32(0x7FFFFFFF)


def _count_first(numbers: _Bits, shift: int, counts: _Counts) -> None:
    """Count the first digits, in four tables: neighbours often share a digit and would wait for each
    other.
    """
    move, whole = np.int32(shift), numbers.size - numbers.size % 4
    for i in range(0, whole, 4):
        counts[0, (numbers[i] & _MAGNITUDE) >> move] += 1
        counts[1, (numbers[i + 1] & _MAGNITUDE) >> move] += 1
        counts[2, (numbers[i + 2] & _MAGNITUDE) >> move] += 1
        counts[3, (numbers[i + 3] & _MAGNITUDE) >> move] += 1
    for i in range(whole, numbers.size):
        counts[0, (numbers[i] & _MAGNITUDE) >> move] += 1


def _count_next(numbers: _Bits, head_shift: int, head: int, shift: int, last: int, counts: _Counts) -> None:
    """Count the next digits of the numbers that begin with ``head``."""
    above, move, wanted, mask = np.int32(head_shift), np.int32(shift), np.int32(head), np.int32(last)
    for i in range(numbers.size):
        number = numbers[i] & _MAGNITUDE
        if number >> above == wanted:
            counts[0, (number >> move) & mask] += 1


def _take(numbers: _Bits, head_shift: int, head: int, taken: _Bits) -> None:
    """Write the magnitudes that begin with ``head`` to ``taken``, which has one place more than they need."""
    above, wanted, place = np.int32(head_shift), np.int32(head), 0
    for i in range(numbers.size):
        number = numbers[i] & _MAGNITUDE
        taken[place] = number  # a branch would be guessed wrongly
        place += number >> above == wanted


def _kth_between(values: Any, count: int, k: int, low: float, high: float, most: int) -> float:
    """The ``k``-th smallest magnitude (from 1) of values at an address, if it lies from ``low`` to ``high``
    with at most so many others; NaN otherwise.

    >>> import torch
    >>> values = torch.tensor([3.0, -1.0, 2.0])
    >>> kth_between(values.data_ptr(), 3, 2, 1.5, 2.5, 3), kth_between(values.data_ptr(), 3, 1, 1.5, 2.5, 3)
    (2.0, nan)
    """
    taken = np.empty(most, np.float32)
    lowest, highest, found, fewer = np.float32(low), np.float32(high), 0, 0
    whole = count - count % 32
    for start in range(0, count, 32):
        inside, under = np.int32(0), np.int32(0)
        stop = start + 32
        if start < whole:
            for i in range(32):  # a fixed number: vector instructions
                size = abs(values[start + i])
                under += np.int32(size < lowest)
                inside += np.int32(size <= highest)
        else:
            stop = count
            for i in range(start, stop):
                size = abs(values[i])
                under += np.int32(size < lowest)
                inside += np.int32(size <= highest)
        fewer += int(under)
        if inside > under:
            if found + inside - under > most:
                return np.nan
            for i in range(start, stop):
                size = abs(values[i])
                if size >= lowest and size <= highest:
                    taken[found] = size
                    found += 1
    place = k - fewer - 1
    if place < 0 or place >= found:
        return np.nan
    return float(np.partition(taken[:found], place)[place])


kth_between = by_address("float64", "float32*", "int64", "int64", "float64", "float64", "int64")(_kth_between)
count_first = compiled(_count_first)
count_next = compiled(_count_next)
take = compiled(_take)


def kth_magnitude(values: Tensor, k: int) -> float:
    """The ``k``-th smallest magnitude (from 1) of contiguous float32 ``values`` on the CPU.

    >>> import torch
    >>> kth_magnitude(torch.tensor([3.0, -1.0, 2.0]), 2)
    2.0
    """
    numbers = values.detach().reshape(-1).numpy().view(np.int32)
    small = np.int32 if numbers.size < 1 << 31 else np.int64  # tables that stay in the processor's cache
    found, left, above = 0, k, 31
    for shift, width in ((20, 11), (9, 11), (0, 9)):
        counts = np.zeros((4, 1 << width), small)
        if above == 31:
            count_first(numbers, shift, counts)
        else:
            count_next(numbers, above, found, shift, (1 << width) - 1, counts)
        sums = np.cumsum(counts.sum(0, dtype=np.int64))
        digit = int(np.searchsorted(sums, left))
        below = int(sums[digit - 1]) if digit else 0
        found, above = (found << width) | digit, shift
        if shift == 20:  # the other digits are few numbers' only
            taken = np.empty(int(sums[digit]) - below + 1, np.int32)
            take(numbers, above, found, taken)
            numbers = taken[:-1]
        left -= below
    return float(np.array([found], np.int32).view(np.float32)[0])
