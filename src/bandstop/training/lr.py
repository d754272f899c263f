"""Learning-rate rules: cosine with warm-up, and the paper's rule in both its published wordings."""

from __future__ import annotations

import math
from typing import Literal

from bandstop.errors import ConfigError

__all__ = ["PaperRule", "Rule", "cosine"]

Rule = Literal["cosine", "constant", "paper-speed", "paper-loss"]


def cosine(progress: float, warmup: float, final: float = 0.0, hold: float = 0.0) -> float:
    """Factor of the learning rate: linear up to 1 in ``warmup``, 1 until ``hold``, half a cosine down to
    ``final``.

    >>> cosine(0.05, 0.1), cosine(0.1, 0.1), round(cosine(1.0, 0.1), 6)
    (0.5, 1.0, 0.0)
    """
    if progress < warmup:
        return progress / warmup
    start = max(warmup, hold)
    u = (progress - start) / max(1 - start, 1e-12)
    return final + (1 - final) * 0.5 * (1 + math.cos(math.pi * min(max(u, 0.0), 1.0)))


class PaperRule:
    """ν ← 0.99·ν when the watched quantity rises and ν ← ν/0.99 when it falls, within [ν₀·low, ν₀·high].

    The watched quantity is the loss (``"paper-loss"``) or its speed of change |L_t − L_{t−1}|
    (``"paper-speed"``). Unbounded, the rule can run away: a loss that falls for 460 epochs multiplies ν by
    100.

    >>> rule = PaperRule("paper-loss")
    >>> [round(rule(loss), 4) for loss in (3.0, 2.0, 1.0, 1.5)]
    [1.0, 1.0101, 1.0203, 1.0101]
    """

    def __init__(self, rule: Rule, *, low: float = 0.01, high: float = 10.0, factor: float = 0.99) -> None:
        if rule not in ("paper-speed", "paper-loss"):
            raise ConfigError(f"the paper's rule is 'paper-speed' or 'paper-loss', found {rule!r}")
        self.on_speed, self.low, self.high, self.factor = rule == "paper-speed", low, high, factor
        self.value, self.seen = 1.0, []

    value: float
    seen: list[float]

    def __call__(self, loss: float) -> float:
        """The factor of ν₀ after an epoch that ended with ``loss``."""
        if self.on_speed:
            self.seen = [*self.seen[-2:], loss]
            watched = [abs(b - a) for a, b in zip(self.seen, self.seen[1:], strict=False)]
        else:
            watched = self.seen = [*self.seen[-1:], loss]
        if len(watched) == 2 and watched[0] != watched[1]:
            self.value *= self.factor if watched[1] > watched[0] else 1 / self.factor
            self.value = min(max(self.value, self.low), self.high)
        return self.value

    def state_dict(self) -> dict[str, float | list[float]]:
        """For checkpoints."""
        return {"value": self.value, "seen": list(self.seen)}

    def load_state_dict(self, state: dict[str, float | list[float]]) -> None:
        """From a checkpoint."""
        value, seen = state["value"], state["seen"]
        assert isinstance(value, float) and isinstance(seen, list)
        self.value, self.seen = value, list(seen)
