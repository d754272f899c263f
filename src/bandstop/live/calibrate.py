"""A rule chosen on validation streams: temperature for honest confidence, threshold for few false alarms."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch.nn import functional as F

from bandstop.errors import ConfigError
from bandstop.live.decision import DecisionRule
from bandstop.live.looks import Looks, events_of
from bandstop.live.measures import StreamMeasures, match_events, measure_streams
from bandstop.live.stream import Stream
from bandstop.live.windows import UNUSED, WindowPlan, label_window
from bandstop.record.rejection import Rejection

__all__ = ["Calibrated", "best_temperature", "calibrate", "parse_false_alarms", "usual_durations"]

THRESHOLDS = tuple(round(float(t), 3) for t in (*np.arange(0.2, 0.9, 0.025), *np.arange(0.9, 0.996, 0.01)))
_PER_MINUTE = {"s": 60.0, "second": 60.0, "min": 1.0, "minute": 1.0, "h": 1 / 60, "hour": 1 / 60}


def parse_false_alarms(text: str) -> float:
    """False alarms a minute from NUMBER/UNIT.

    >>> parse_false_alarms("1/min"), parse_false_alarms("6/hour"), parse_false_alarms("0.5")
    (1.0, 0.1, 0.5)
    """
    found = re.fullmatch(r"\s*([0-9.]+)\s*(?:/\s*([a-z]+))?\s*", text)
    try:
        count = float(found[1]) if found else math.nan
        rate = count * _PER_MINUTE[(found[2] or "min") if found else ""]
    except (ValueError, KeyError):
        rate = math.nan
    if not rate > 0:
        raise ConfigError(
            f"a rate of false alarms is a number a unit, such as 1/min or 6/hour, found {text!r}"
        )
    return rate


@dataclass(frozen=True)
class Calibrated:
    """A rule, what it does on the validation streams, and whether it has as few false alarms as asked."""

    rule: DecisionRule
    measures: StreamMeasures
    asked: float
    met: bool
    curve: tuple[tuple[float, int, int], ...] = ()
    """Every threshold that was tried, its false alarms and the gestures it found."""

    @property
    def rejection(self) -> Rejection:
        """What goes into the model file: the rule's temperature and threshold, and the curve."""
        rule, minutes = self.rule, round(self.measures.minutes, 4)
        text = f"{self.asked:g}/min"
        return Rejection(rule.temperature, rule.threshold, text, 0, minutes, self.curve, self.met)


def usual_durations(streams: Sequence[Stream], classes: int) -> tuple[int, ...]:
    """Median frames of the gestures of each class; for a class that is absent, of all."""
    by_class: dict[int, list[int]] = {}
    for stream in streams:
        for gesture in stream.gestures:
            by_class.setdefault(gesture.label, []).append(gesture.frames)
    everything = [frames for found in by_class.values() for frames in found]
    return tuple(round(float(np.median(by_class.get(label, everything)))) for label in range(classes))


def best_temperature(looks: Sequence[Looks], streams: Sequence[Stream], plan: WindowPlan) -> float:
    """The temperature of the least cross-entropy on the looks whose class is known (Guo et al., 2017)."""
    rows, labels = [], []
    for found, stream in zip(looks, streams, strict=True):
        named = np.array([label_window(stream.gestures, int(at), plan) for at in found.at], dtype=np.int64)
        named[[not stream.judged(int(at)) for at in found.at]] = UNUSED
        rows.append(found.scores[named > -2])
        labels.append(np.where(named < 0, found.scores.shape[1] - 1, named)[named > -2])
    scores, truth = torch.from_numpy(np.concatenate(rows)), torch.from_numpy(np.concatenate(labels))
    grid = [round(0.5 * 1.1**k, 3) for k in range(24)]
    losses = [float(F.cross_entropy(scores / temperature, truth)) for temperature in grid]
    return grid[int(np.argmin(losses))]


def _lag(looks: Sequence[Looks], streams: Sequence[Stream], rule: DecisionRule) -> int:
    """Median frames by which a found gesture's likeliest look comes after its end."""
    late: list[int] = []
    for found, stream in zip(looks, streams, strict=True):
        events = events_of(found, rule)
        for event, which in zip(events, match_events(stream.gestures, events), strict=True):
            if which >= 0:
                late.append(event.end + rule.lag - stream.gestures[which].end)
    return max(0, round(float(np.median(late)))) if late else rule.lag


def calibrate(
    looks: Sequence[Looks],
    streams: Sequence[Stream],
    plan: WindowPlan,
    rule: DecisionRule,
    *,
    false_alarms: float,
) -> Calibrated:
    """The threshold that finds most gestures with at most ``false_alarms`` a minute.

    If no threshold that finds anything keeps to that rate, the one with the fewest false alarms, and ``met``
    is false.
    """
    rule = replace(rule, temperature=best_temperature(looks, streams, plan))
    rule = replace(rule, lag=_lag(looks, streams, replace(rule, threshold=0.5)))
    tried: list[tuple[DecisionRule, StreamMeasures]] = []
    for threshold in THRESHOLDS:
        candidate = replace(rule, threshold=threshold)
        tried.append((candidate, measure_streams(streams, [events_of(found, candidate) for found in looks])))
    curve = tuple((candidate.threshold, *_counts(measures)) for candidate, measures in tried)
    useful = [pair for pair in tried if pair[1].detection_rate > 0]
    quiet = [pair for pair in useful if pair[1].false_alarms_per_minute <= false_alarms]
    if not quiet:
        fewest = min(
            useful or tried, key=lambda pair: (pair[1].false_alarms_per_minute, -pair[1].detection_rate)
        )
        return Calibrated(*fewest, false_alarms, met=False, curve=curve)
    most = max(quiet, key=lambda pair: (pair[1].detection_rate, pair[0].threshold))
    return Calibrated(*most, false_alarms, met=True, curve=curve)


def _counts(measures: StreamMeasures) -> tuple[int, int]:
    """False alarms and gestures found."""
    alarms = measures.false_alarms_per_minute * measures.minutes
    return round(alarms), round(measures.detection_rate * measures.gestures)
