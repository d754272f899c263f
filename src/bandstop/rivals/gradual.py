"""Gradual magnitude pruning: the rate rises by a cubic law while the net trains."""

from __future__ import annotations

from dataclasses import dataclass

from bandstop.errors import ConfigError
from bandstop.method.schedules import Ramp
from bandstop.rivals.masked import MaskedMethod
from bandstop.rivals.settings import Rule, Settings, number

__all__ = ["Gradual", "GradualSettings"]


@dataclass(frozen=True)
class GradualSettings(Settings):
    """Zhu & Gupta 2018; the window as Kusupati et al. 2020 (epochs 20 to 79 of 100)."""

    allocation: Rule = "learned"
    """Global magnitudes ("learned"), "erk" or "lamp"."""
    begin: float = number(0.2, 0.0, 1.0)
    """Progress at which pruning begins."""
    end: float = number(0.79, 0.0, 1.0)
    """Progress at which the budget is reached."""
    updates: int = number(100, 1)
    """Pruning steps between begin and end."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.begin >= self.end:
            raise ConfigError(f"begin must come before end, found begin {self.begin} and end {self.end}")


class Gradual(MaskedMethod[GradualSettings]):
    """``s_t = s_f · (1 − (1 − u)³)``, u running 0 → 1 between begin and end; what is pruned stays so."""

    @property
    def ramp(self) -> Ramp:
        """How much of the final pruning applies at each progress."""
        return Ramp(0.0, 1.0, begin=self.settings.begin, end=self.settings.end, power=3.0)

    @property
    def interval(self) -> int:
        """Optimiser steps between two pruning steps."""
        span = (self.settings.end - self.settings.begin) * self.steps
        return max(1, int(span / self.settings.updates))

    @property
    def last(self) -> int:
        """The step at which the budget is reached: at the latest the last one."""
        return min(max(round(self.settings.end * self.steps), 1), self.steps)

    @property
    def settled(self) -> bool:
        """From the last pruning step on."""
        return self.frozen or self.taken >= self.last

    def update(self) -> None:
        """Prune further, now and then; dropped weights have magnitude 0 and so never come back."""
        if self.taken == self.last or (self.taken < self.last and self.taken % self.interval == 0):
            now = 1.0 if self.taken == self.last else self.ramp(self.progress)
            if now > 0:
                self.impose(self.select(self.magnitudes(), now))
