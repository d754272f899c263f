"""From probabilities, look by look, to events: smoothing, a threshold, hysteresis and a refractory time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandstop.errors import ConfigError
from bandstop.live.event import Event

__all__ = ["Decider", "DecisionRule"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DecisionRule:
    """When a gesture counts as seen.

    With p the mean over the last ``smooth`` looks of ``softmax(scores / temperature)``, the likeliest gesture
    becomes a candidate when p ≥ ``threshold``. The candidate is named ``patience`` looks later, as the
    likeliest gesture of that time. Then follow ``refractory`` frames without a candidate, and the same class
    must fall below ``release`` before it can be named again.
    """

    threshold: float = 0.7
    """Least confidence of an event."""
    temperature: float = 1.0
    """Divides scores, so that confidence is the share of right answers."""
    smooth: int = 2
    """Looks over which probabilities are averaged."""
    patience: int = 0
    """Looks that a candidate waits for a better one."""
    release: float = 0.3
    """A class named before must fall below this share of the threshold before it counts again."""
    refractory: int = 18
    """Frames after an event in which there is no other."""
    lag: int = 5
    """Frames from a gesture's end to the look at which it is likeliest."""
    durations: tuple[int, ...] = ()
    """Usual frames of each gesture, from which an event's begin is set."""

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1 or not 0 <= self.release <= 1 or not self.temperature > 0:
            raise ConfigError(
                f"a decision needs 0 < threshold ≤ 1, 0 ≤ release ≤ 1 and a temperature above 0, found {self}"
            )
        if not 1 <= self.smooth <= 1000 or min(self.patience, self.refractory, self.lag) < 0:
            raise ConfigError(
                "a decision needs 1 ≤ smooth ≤ 1000 and no negative patience, refractory or lag, "
                f"found {self}"
            )


class Decider:
    """Applies a rule to the looks of one stream, in order.

    >>> rule = DecisionRule(threshold=0.5, smooth=1, patience=0, lag=0, durations=(20,))
    >>> decider = Decider(rule)
    >>> decider.look([0.0, 3.0], at=30) is None  # the last class is `none`
    True
    >>> event = decider.look([3.0, 0.0], at=33)
    >>> event.begin, event.end, event.label, round(event.confidence, 3)
    (13, 33, 0, 0.953)
    """

    def __init__(self, rule: DecisionRule) -> None:
        self.rule = rule
        self.reset()

    def reset(self) -> None:
        """Forget what was seen."""
        self._recent: deque[Floats] = deque(maxlen=self.rule.smooth)
        self._candidate: tuple[float, int, int] | None = None
        self._waited = 0
        self._last_class, self._armed = -1, True
        self._quiet_until = 0

    def confidence(self) -> Floats:
        """Smoothed probability of each class, `none` last."""
        return np.asarray(np.sum(self._recent, axis=0) / self.rule.smooth, dtype=np.float64)

    def look(self, scores: ArrayLike, at: int) -> Event | None:
        """Take the class scores (`none` last) of the window that ends at frame count ``at``."""
        scaled = np.asarray(scores, dtype=np.float64) / self.rule.temperature
        likelihood = np.exp(scaled - scaled.max())
        self._recent.append(likelihood / likelihood.sum())
        seen = self.confidence()[:-1]
        best = int(seen.argmax())
        if self._last_class >= 0 and seen[self._last_class] < self.rule.release * self.rule.threshold:
            self._armed = True
        if self._candidate is not None:
            self._waited += 1
            if seen[best] > self._candidate[0]:
                self._candidate = float(seen[best]), best, at
        elif self._may_begin(float(seen[best]), best, at):
            self._candidate, self._waited = (float(seen[best]), best, at), 0
        if self._candidate is None or self._waited < self.rule.patience:
            return None
        return self._emit(at)

    def _may_begin(self, confidence: float, label: int, at: int) -> bool:
        """Whether ``label`` may become a candidate now."""
        calm = at >= self._quiet_until and (self._armed or label != self._last_class)
        return calm and confidence >= self.rule.threshold

    def _emit(self, at: int) -> Event:
        assert self._candidate is not None
        confidence, label, peak = self._candidate
        self._candidate, self._armed, self._last_class = None, False, label
        self._quiet_until = at + self.rule.refractory
        end = max(1, peak - self.rule.lag)
        usual = self.rule.durations[label] if label < len(self.rule.durations) else 0
        return Event(max(0, end - max(1, usual)), end, label, confidence, at)
