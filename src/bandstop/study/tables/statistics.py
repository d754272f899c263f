"""Means with t-intervals, and paired tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from bandstop.errors import MissingExtra

__all__ = ["Mean", "Paired", "holm", "mean", "paired"]

LEVEL = 0.95
K = TypeVar("K")


@dataclass(frozen=True)
class Mean:
    """A mean over seeds; spread and interval need two of them."""

    count: int
    mean: float
    deviation: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Paired:
    """The mean of differences of pairs, its interval and the p value of no difference."""

    count: int
    difference: float
    low: float | None
    high: float | None
    p: float | None


def mean(values: Sequence[float]) -> Mean:
    """Mean m, standard deviation s (n − 1) and 95 % interval m ± t·s/√n, with t of n − 1 degrees of freedom.

    >>> found = mean([88.0, 89.0, 90.0])
    >>> found.mean, found.deviation, round(found.low, 3), round(found.high, 3)
    (89.0, 1.0, 86.516, 91.484)
    >>> mean([88.0]).low is None
    True
    """
    count = len(values)
    middle = math.fsum(values) / count
    if count < 2:
        return Mean(count, middle, None, None, None)
    deviation = math.sqrt(math.fsum((v - middle) ** 2 for v in values) / (count - 1))
    half = float(_student().ppf((1 + LEVEL) / 2, count - 1)) * deviation / math.sqrt(count)
    return Mean(count, middle, deviation, middle - half, middle + half)


def paired(ours: Mapping[K, float], theirs: Mapping[K, float]) -> Paired | None:
    """Student's paired test on what both have, for instance the same seeds; none if they share nothing.

    >>> found = paired({0: 3.0, 1: 5.0, 2: 4.0, 9: 0.0}, {0: 1.0, 1: 2.0, 2: 3.0})
    >>> found.count, found.difference, round(found.p, 4)
    (3, 2.0, 0.0742)
    """
    shared = [key for key in ours if key in theirs]
    if not shared:
        return None
    found = mean([ours[key] - theirs[key] for key in shared])
    if found.deviation is None:
        return Paired(found.count, found.mean, None, None, None)
    if found.deviation == 0:
        return Paired(found.count, found.mean, found.low, found.high, 1.0 if found.mean == 0 else 0.0)
    t = found.mean / (found.deviation / math.sqrt(found.count))
    p = 2 * float(_student().sf(abs(t), found.count - 1))
    return Paired(found.count, found.mean, found.low, found.high, p)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """The p values, adjusted for being one of several tests (Holm 1979): step down, never falling.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    order = sorted((p, place) for place, p in enumerate(values) if p is not None)
    adjusted: list[float | None] = [None] * len(values)
    largest = 0.0
    for step, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - step) * p))
        adjusted[place] = largest
    return adjusted


def _student() -> Any:
    try:
        from scipy.stats import t
    except ImportError:
        raise MissingExtra("scipy", extra="app") from None
    return t
