"""Schedules: small frozen objects that map progress through training (0 … 1) to a value."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Constant", "Geometric", "Ramp", "Rise", "Schedule", "Sweep", "Window"]


@dataclass(frozen=True)
class Schedule:
    """Base: call with progress in [0, 1]."""

    def __call__(self, progress: float) -> float:
        raise NotImplementedError


@dataclass(frozen=True)
class Constant(Schedule):
    """The same value throughout.

    >>> Constant(3.0)(0.5)
    3.0
    """

    value: float

    def __call__(self, progress: float) -> float:
        return self.value


@dataclass(frozen=True)
class Ramp(Schedule):
    """``final − (final − first)·(1 − u)^power``, u running 0 → 1 between ``begin`` and ``end``.

    Cubic is the ramp of Zhu & Gupta.

    >>> [round(Ramp(0.0, 0.9, begin=0.0, end=0.5)(p), 3) for p in (0.0, 0.25, 0.5, 1.0)]
    [0.0, 0.787, 0.9, 0.9]
    """

    first: float
    final: float
    begin: float = 0.0
    end: float = 1.0
    power: float = 3.0

    def __call__(self, progress: float) -> float:
        span = max(self.end - self.begin, 1e-12)
        u = min(max((progress - self.begin) / span, 0.0), 1.0)
        value: float = self.final - (self.final - self.first) * (1 - u) ** self.power
        return value


@dataclass(frozen=True)
class Rise(Schedule):
    """``first + (final − first)·u^power``, u running 0 → 1 until ``end``: steep at the end for a high power.

    >>> [round(Rise(0.0, 1.0, end=0.5, power=2.0)(p), 3) for p in (0.0, 0.25, 0.5, 1.0)]
    [0.0, 0.25, 1.0, 1.0]
    """

    first: float
    final: float
    end: float = 1.0
    power: float = 1.0

    def __call__(self, progress: float) -> float:
        u = min(max(progress / self.end, 0.0), 1.0) if self.end > 0 else 1.0
        value: float = self.first + (self.final - self.first) * u**self.power
        return value


@dataclass(frozen=True)
class Geometric(Schedule):
    """From ``first`` to ``final`` by equal ratios between ``begin`` and ``end``: for temperatures.

    >>> round(Geometric(1.0, 0.01)(0.5), 6)
    0.1
    """

    first: float
    final: float
    begin: float = 0.0
    end: float = 1.0

    def __call__(self, progress: float) -> float:
        span = max(self.end - self.begin, 1e-12)
        u = min(max((progress - self.begin) / span, 0.0), 1.0)
        ratio: float = self.first * (self.final / self.first) ** u
        return ratio


@dataclass(frozen=True)
class Window(Schedule):
    """``value`` while progress < ``end``, then 0; with ``power`` > 0 times ``(1 − progress/end)^power``.

    >>> Window(10.0, end=0.8)(0.5), Window(10.0, end=0.8)(0.9), Window(10.0, end=0.8, power=1.0)(0.4)
    (10.0, 0.0, 5.0)
    """

    value: float
    end: float = 1.0
    power: float = 0.0

    def __call__(self, progress: float) -> float:
        if progress >= self.end and not self.end >= 1:
            return 0.0
        left: float = max(1 - progress / self.end, 0.0) ** self.power
        return self.value * left


@dataclass(frozen=True)
class Sweep(Schedule):
    """A rate that rises to ``low`` until ``begin``, as a cubic ``Ramp`` does, and on to ``high`` until
    ``end``, by equal ratios of what is kept.

    Called it gives, as a ramp does, the share of the final pruning that applies: ``rate / high``.

    >>> sweep = Sweep(0.5, 0.98, begin=0.3, end=0.9)
    >>> [round(sweep.rate(p), 3) for p in (0.0, 0.1, 0.3, 0.6, 0.9, 1.0)]
    [0.0, 0.352, 0.5, 0.9, 0.98, 0.98]
    >>> sweep(1.0)
    1.0
    """

    low: float
    high: float
    begin: float = 0.3
    end: float = 0.95

    def __call__(self, progress: float) -> float:
        return min(self.rate(progress) / self.high, 1.0)

    def rate(self, progress: float) -> float:
        """The rate at a moment of training."""
        if progress < self.begin:
            return Ramp(0.0, self.low, end=self.begin)(progress)
        return self.at((progress - self.begin) / max(self.end - self.begin, 1e-12))

    def at(self, place: float) -> float:
        """The rate at a place of the range: ``low`` at 0, ``high`` at 1."""
        if not 0 < place < 1:
            return self.low if place <= 0 else self.high
        return 1 - math.exp((1 - place) * math.log(1 - self.low) + place * math.log(1 - self.high))

    def place(self, rate: float) -> float:
        """Where in the range a rate lies.

        >>> round(Sweep(0.5, 0.98).place(0.9), 3), Sweep(0.5, 0.98).place(0.3)
        (0.5, 0.0)
        """
        most, fewest = math.log(1 - self.low), math.log(1 - self.high)
        return min(max((math.log(1 - rate) - most) / (fewest - most), 0.0), 1.0)
