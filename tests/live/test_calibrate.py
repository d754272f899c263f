"""Temperature and threshold from validation streams."""

from __future__ import annotations

import numpy as np
import pytest

from bandstop.errors import ConfigError
from bandstop.live import DecisionRule, Gesture, Stream, WindowPlan, calibrate, parse_false_alarms
from bandstop.live.calibrate import best_temperature, usual_durations
from bandstop.live.looks import Looks

PLAN = WindowPlan(40, hop=3, soonest=1, latest=10)
GESTURES = tuple(Gesture(150 * k, 150 * k + 40, 0) for k in range(1, 12))
STREAM = Stream(np.zeros((1800, 1, 3), np.float32), GESTURES)


def _looks(sure: float, alarms: int, alarm_sure: float) -> Looks:
    """Scores that name every gesture at its end, and ``alarms`` times something in between."""
    at = np.arange(3, 1801, 3)
    scores = np.tile(np.array([-20.0, 20.0], np.float32), (len(at), 1))
    for g in GESTURES:
        scores[(at > g.end) & (at <= g.end + 10)] = (sure, 0.0)
    for k in range(alarms):
        place = 150 * (k + 1) + 95
        scores[(at > place) & (at <= place + 10)] = (alarm_sure, 0.0)
    return Looks(at, scores)


def test_threshold_keeps_to_the_asked_rate():
    looks = _looks(sure=3.0, alarms=4, alarm_sure=1.0)
    strict = calibrate([looks], [STREAM], PLAN, DecisionRule(durations=(40,)), false_alarms=1.0)
    assert strict.met and strict.measures.detection_rate == 1.0
    assert strict.measures.false_alarms_per_minute == 0.0
    # The same threshold serves a careless user: it finds everything already.
    careless = calibrate([looks], [STREAM], PLAN, DecisionRule(durations=(40,)), false_alarms=60.0)
    assert careless.measures.detection_rate == 1.0


def test_an_impossible_rate_is_said_to_be_missed():
    looks = _looks(sure=9.0, alarms=8, alarm_sure=9.0)
    found = calibrate([looks], [STREAM], PLAN, DecisionRule(durations=(40,)), false_alarms=0.01)
    assert not found.met and found.measures.false_alarms_per_minute > 0.01


def test_temperature_makes_confidence_honest():
    rng = np.random.default_rng(0)
    at = np.arange(3, 1801, 3)
    logits = rng.normal(0, 2, (len(at), 2))
    share = 1 / (1 + np.exp(-logits[:, 0] + logits[:, 1]))
    gestures = tuple(
        Gesture(int(t) - 2, int(t) - 1, 0) for t, p in zip(at, share, strict=True) if rng.random() < p
    )
    stream = Stream(STREAM.joints, gestures)
    tight = WindowPlan(40, hop=3, soonest=1, latest=1)
    # Scores three times too large: the temperature takes that back, as far as windows near a gesture allow.
    honest = best_temperature([Looks(at, logits.astype(np.float32))], [stream], tight)
    loud = best_temperature([Looks(at, 3 * logits.astype(np.float32))], [stream], tight)
    assert loud == pytest.approx(3 * honest, rel=0.15)


def test_usual_durations_by_class():
    stream = Stream(STREAM.joints, (Gesture(0, 10, 0), Gesture(20, 50, 0), Gesture(60, 100, 2)))
    assert usual_durations([stream], 3) == (20, 30, 40)


@pytest.mark.parametrize("wrong", ["", "often", "1/week", "0/min", "-1", "1//min"])
def test_rates_that_are_none(wrong):
    with pytest.raises(ConfigError, match="1/min"):
        parse_false_alarms(wrong)


def test_rates():
    assert parse_false_alarms("2") == parse_false_alarms("2 / minute") == parse_false_alarms("120/hour") == 2
