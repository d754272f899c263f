"""What is kept of a sweep: moving averages of the parameters, as they were at some of its rates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from bandstop.errors import ConfigError
from bandstop.method.schedules import Sweep

__all__ = ["Parameters", "Waypoints"]

Parameters = dict[str, Tensor]


class Waypoints:
    """Averages at ``number + 1`` rates of a ``sweep``, by equal ratios of what is kept; between two of them
    the parameters are interpolated.

    ``share``: over how much of the training is averaged.

    >>> kept = Waypoints(Sweep(0.5, 0.98, begin=0.2, end=1.0), number=2, share=0.0)
    >>> for step in range(1, 11):
    ...     kept.follow({"w": torch.tensor(float(step))}, step / 10, 0.1)
    >>> [round(rate, 3) for rate in kept.rates], [float(w["w"]) for w in kept.found]
    ([0.5, 0.9, 0.98], [2.0, 6.0, 10.0])
    >>> kept.at(0.95)["w"].round(decimals=3)
    tensor(7.7230)
    """

    def __init__(self, sweep: Sweep, *, number: int, share: float) -> None:
        self.sweep, self.share = sweep, share
        self.rates = tuple(sweep.at(i / number) for i in range(number + 1))
        self.average: Parameters = {}
        self.found: list[Parameters] = []

    @torch.no_grad()
    def follow(self, parameters: Mapping[str, Tensor], progress: float, since: float) -> None:
        """Take the parameters into the average, ``since`` the last time a share of the training has passed,
        and keep it if the sweep has reached another rate.
        """
        if not self.average:
            self.average = {name: value.clone() for name, value in parameters.items()}
        else:
            weight = 1 - math.exp(-since / self.share) if self.share else 1.0
            torch._foreach_lerp_(
                [self.average[name] for name in parameters], list(parameters.values()), weight
            )
        # The last one at the very end, when the network has had its time at the highest rate.
        while len(self.found) < len(self.rates) and self._passed(len(self.found), progress):
            self.found.append({name: value.clone() for name, value in self.average.items()})

    def _passed(self, number: int, progress: float) -> bool:
        if number == len(self.rates) - 1:
            return progress >= 1
        return self.sweep.rate(progress) >= self.rates[number]

    @property
    def reached(self) -> float:
        """The highest rate that there is an average for; −1 before the lowest."""
        return self.rates[len(self.found) - 1] if self.found else -1.0

    def at(self, rate: float) -> Parameters:
        """The parameters for a rate that was reached; the last ones there are for any other."""
        along = self.sweep.place(rate) * (len(self.rates) - 1)
        first = min(int(along), len(self.found) - 1)
        if first < 0:
            return dict(self.average)
        second = min(first + 1, len(self.found) - 1)
        low, high, part = self.found[first], self.found[second], min(along - first, 1.0)
        return {name: torch.lerp(low[name], high[name], part) for name in low}

    def state(self) -> dict[str, Any]:
        """What a resumed training needs, and an extraction."""
        return {"average": self.average, "found": self.found}

    def load(self, state: Mapping[str, Any] | None) -> None:
        """Take up ``state``."""
        if state is None:
            raise ConfigError(
                "the state is that of a training for many rates by an earlier version of bandstop, from "
                "which this one cannot extract: train again"
            )
        if len(state["found"]) > len(self.rates):
            raise ConfigError(
                f"the state has averages at {len(state['found'])} rates, and this pruner keeps "
                f"{len(self.rates)}: build the pruner as when it was saved"
            )
        self.average, self.found = dict(state["average"]), [dict(one) for one in state["found"]]
