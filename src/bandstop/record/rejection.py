"""How a recogniser says "none of these": a temperature, a threshold, and what other thresholds would cost.

With ``p = softmax(scores / temperature)``, the likeliest gesture is named if its p reaches the threshold;
otherwise the answer is none of these, with the confidence ``1 − p``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bandstop.errors import ConfigError

__all__ = ["NONE", "Alarms", "Answer", "Rejection"]

NONE = "none"
"""The name of the class for "none of the gestures"; a network may have learned one."""
_PER_MINUTE = {"s": 60.0, "second": 60.0, "min": 1.0, "minute": 1.0, "h": 1 / 60, "hour": 1 / 60}


@dataclass(frozen=True)
class Alarms:
    """A rate of false alarms: so many a minute of what is recorded, or a share of the recordings."""

    rate: float
    per_minute: bool

    @staticmethod
    def parse(text: str) -> Alarms:
        """From NUMBER/UNIT or NUMBER%.

        >>> Alarms.parse("6/hour"), Alarms.parse("2%")
        (Alarms(rate=0.1, per_minute=True), Alarms(rate=0.02, per_minute=False))
        """
        found = re.fullmatch(r"\s*([0-9.]+)\s*(?:(%)|/\s*([a-z]+))?\s*", text)
        rate, share = math.nan, bool(found and found[2])
        if found and found[1].count(".") < 2 and found[1] != ".":
            unit = 0.01 if share else _PER_MINUTE.get(found[3] or "min", math.nan)
            rate = float(found[1]) * unit
        if not rate > 0 or (share and rate >= 1):
            raise ConfigError(
                "a rate of false alarms is a number a unit or a share of recordings, such as 1/min, 6/hour "
                f"or 2%, found {text!r}"
            )
        return Alarms(rate, not share)

    def allowed(self, recordings: int, minutes: float) -> float:
        """How many false alarms that many recordings may have."""
        return self.rate * (minutes if self.per_minute else recordings)


@dataclass(frozen=True)
class Answer:
    """A class of the network by its number, or −1 for none of these; and how likely that is."""

    label: int
    confidence: float


@dataclass(frozen=True)
class Rejection:
    """The rule, and the curve of the validation recordings that it was chosen on."""

    temperature: float
    threshold: float
    false_alarms: str = ""
    """The rate that the threshold was chosen for."""
    recordings: int = 0
    """None for a stream, which has false alarms a minute only."""
    minutes: float = 0.0
    curve: tuple[tuple[float, int, int], ...] = ()
    """Threshold, false alarms and rightly named recordings with it; of a stream, gestures."""
    met: bool = True
    """Whether the validation recordings had no more false alarms than asked for."""

    def __post_init__(self) -> None:
        if not (self.temperature > 0 and 0 < self.threshold <= 1):
            raise ConfigError(
                "a rejection needs a temperature above 0 and a threshold in (0, 1], found "
                f"{self.temperature} and {self.threshold}"
            )

    def answer(self, scores: Sequence[float], class_names: Sequence[str]) -> Answer:
        """What ``scores`` say; a learned class `none` is never named.

        >>> rule = Rejection(temperature=1.0, threshold=0.8)
        >>> rule.answer([0.0, 3.0], ["left", "right"]).label, rule.answer([0.0, 1.0], ["left", "right"]).label
        (1, -1)
        """
        top = max(scores)
        powers = [math.exp((score - top) / self.temperature) for score in scores]
        gestures = [label for label, name in enumerate(class_names) if name != NONE]
        best = max(gestures, key=lambda label: powers[label])
        likely = powers[best] / sum(powers)
        return Answer(best, likely) if likely >= self.threshold else Answer(-1, 1.0 - likely)

    def for_alarms(self, text: str) -> Rejection:
        """The same temperature with the threshold that names most with another rate of false alarms.

        If no threshold that names anything keeps to that rate, the one with the fewest, and ``met`` is false.

        >>> rule = Rejection(1.0, 0.9, "2%", 100, 3.0, ((0.5, 4, 90), (0.7, 2, 85), (0.9, 0, 60)))
        >>> rule.for_alarms("2%").threshold, rule.for_alarms("2/min").threshold
        (0.7, 0.5)
        """
        if not self.curve:
            raise ConfigError("this model holds one threshold only; `bandstop calibrate` stores a curve")
        asked = Alarms.parse(text)
        if not asked.per_minute and not self.recordings:
            raise ConfigError(f"a stream has false alarms a minute, found {text!r}: say 1/min or 6/hour")
        allowed = asked.allowed(self.recordings, self.minutes)
        useful = [point for point in self.curve if point[2]] or list(self.curve)
        fitting = [point for point in useful if point[1] <= allowed]
        most = max(fitting, key=lambda point: (point[2], point[0]), default=None)
        chosen = most or min(useful, key=lambda point: (point[1], -point[2]))
        return replace(self, threshold=chosen[0], false_alarms=text, met=bool(fitting))
