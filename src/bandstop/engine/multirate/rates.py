"""A range of pruning rates, and which of them a training step visits."""

from __future__ import annotations

import math

import torch

from bandstop.engine.attach.checks import check_rates
from bandstop.errors import ConfigError

__all__ = ["RateRange"]


class RateRange:
    """The rates from ``low`` to ``high``, spread evenly in the logarithm of the share that they keep.

    >>> span = RateRange((0.0, 0.9375), passes=3, seed=0)
    >>> [round(span.position(r), 3) for r in (0.0, 0.75, 0.9375)]
    [-1.0, 0.0, 1.0]
    >>> first, drawn, last = span.of_step()
    >>> first, 0 < drawn < 0.9375, last
    (0.0, True, 0.9375)
    """

    def __init__(self, rates: tuple[float, float], *, passes: int, seed: int) -> None:
        self.low, self.high = check_rates(rates)
        if passes < 1:
            raise ConfigError(f"a step needs at least 1 pass, found {passes}")
        self.passes, self.top = passes, self.high
        self.generator = torch.Generator().manual_seed(seed)

    def position(self, rate: float) -> float:
        """Where a rate lies in the range, −1 to 1."""
        fewest, most = math.log(1 - self.high), math.log(1 - self.low)
        return 1 - 2 * (math.log(1 - rate) - fewest) / (most - fewest)

    def draw(self) -> float:
        """A rate of the range, up to ``top``."""
        u = float(torch.rand((), generator=self.generator))
        fewest, most = math.log(1 - self.top), math.log(1 - self.low)
        return 1 - math.exp(fewest + u * (most - fewest))

    def of_step(self) -> list[float]:
        """One pass: a drawn rate. Two: the lowest and a drawn one. More: the lowest, drawn ones, ``top``."""
        if self.passes == 1:
            return [self.draw()]
        if self.passes == 2:
            return [self.low, self.draw()]
        return [self.low, *sorted(self.draw() for _ in range(self.passes - 2)), self.top]
