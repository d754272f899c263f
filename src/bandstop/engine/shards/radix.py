"""The k-th smallest of numbers that lie on many ranks, from sums of counts: nothing is gathered or sorted.

A number is found digit by digit. How many numbers have each value of the first digit is counted on every rank
and added up; the sums say which digit the wanted number begins with, and only numbers that begin so are
counted for the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

__all__ = ["DIGIT", "from_keys", "keys", "kth_smallest", "rounds"]

DIGIT = 11
"""Bits of a digit, at most: 31 bits of a float32 magnitude are three sums of 2,048 numbers per layer."""


def rounds(bits: int) -> list[tuple[int, int]]:
    """Shift and width of each digit of a number of ``bits`` bits, the first the most significant.

    >>> rounds(31)
    [(20, 11), (9, 11), (0, 9)]
    """
    width = -(-bits // -(-bits // DIGIT))
    tops = range(bits, 0, -width)
    return [(max(top - width, 0), min(width, top)) for top in tops]


def keys(magnitudes: Tensor) -> Tensor:
    """Whole numbers in the order of the ``magnitudes`` (≥ 0): their bits.

    >>> bool((keys(torch.tensor([0.0, 1e-40, 1.0, torch.inf])).diff() > 0).all())
    True
    """
    if magnitudes.dtype == torch.float64:
        return magnitudes.view(torch.int64)
    return magnitudes.float().view(torch.int32)


def from_keys(found: Tensor, *, double: bool = False) -> Tensor:
    """The magnitudes that have the given keys.

    >>> from_keys(keys(torch.tensor([0.5, 3.0])))
    tensor([0.5000, 3.0000])
    """
    return found.view(torch.float64) if double else found.to(torch.int32).view(torch.float32)


def kth_smallest(
    groups: Callable[[], Iterable[Tensor]], wanted: Tensor, bits: int, total: Callable[[Tensor], Tensor]
) -> Tensor:
    """For each group of numbers in [0, 2^bits) the ``wanted``-th smallest (from 1), int64.

    ``groups`` yields this rank's part of every group, and is read twice at most; ``total`` adds up over
    ranks.

    >>> numbers = [torch.tensor([5, 1, 1, 900]), torch.tensor([7])]
    >>> kth_smallest(lambda: numbers, torch.tensor([3, 1]), 10, lambda counts: counts)
    tensor([5, 7])
    """
    found, left = torch.zeros_like(wanted), wanted.clone()
    alive: list[Tensor] | None = None
    for shift, width in rounds(bits):
        if alive is None:
            parts = [_counts(group.flatten(), shift, width) for group in groups()]
        else:
            parts = [_counts(group, shift, width) for group in alive]
        sums = total(torch.stack(parts)).cumsum(1)
        digit = (sums < left[:, None]).sum(1)
        left -= torch.where(digit > 0, sums.gather(1, (digit - 1).clamp(min=0)[:, None])[:, 0], 0)
        found |= digit << shift
        if shift:
            source = (group.flatten() for group in groups()) if alive is None else alive
            alive = [
                group[(group >> shift) == head] for group, head in zip(source, found >> shift, strict=True)
            ]
    return found


def _counts(numbers: Tensor, shift: int, width: int) -> Tensor:
    return torch.bincount((numbers >> shift) & ((1 << width) - 1), minlength=1 << width)
