"""SHREC'22's measures on streams small enough to count by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bandstop.live import Event, Gesture, Stream, measure_streams
from bandstop.live.measures import jaccard_index, match_events

TRUTH = (Gesture(100, 140, 0), Gesture(200, 260, 1), Gesture(400, 430, 0))


def _stream(frames: int = 1800, gestures=TRUTH) -> Stream:
    return Stream(np.zeros((frames, 1, 3), np.float32), gestures)


def test_half_must_be_covered_and_no_more_than_twice_the_length():
    def found(begin, end, label=0):
        return match_events(TRUTH, [Event(begin, end, label, 0.9, end)])[0]

    assert found(110, 150) == 0
    assert found(120, 160) == -1  # exactly half is not more than half
    assert found(119, 160) == 0
    assert found(100, 180) == 0 and found(100, 181) == -1
    assert found(110, 150, label=1) == -1
    assert found(200, 260, label=1) == 1


def test_a_gesture_is_found_once():
    twice = [Event(105, 140, 0, 0.9, 142), Event(101, 141, 0, 0.9, 150)]
    assert match_events(TRUTH, twice) == [0, -1]
    assert match_events(TRUTH, []) == []


def test_figures_counted_by_hand():
    events = [Event(101, 139, 0, 0.9, 146), Event(210, 265, 1, 0.8, 268), Event(700, 730, 2, 0.7, 733)]
    m = measure_streams([_stream()], [events])
    assert m.gestures == 3 and m.minutes == pytest.approx(1.0)
    assert m.detection_rate == pytest.approx(2 / 3)
    assert m.false_alarms_per_minute == pytest.approx(1.0)
    assert m.false_positive_ratio == pytest.approx(1 / 3)
    assert m.delay_frames == pytest.approx((6 + 8) / 2)
    overlap = np.mean([38 / 70, 50 / 65, 0.0])  # the classes 0, 1 and 2
    assert m.jaccard_index == pytest.approx(overlap)


def test_a_wrong_name_is_a_miss_and_a_false_alarm():
    m = measure_streams([_stream(gestures=TRUTH[:1])], [[Event(100, 140, 1, 0.9, 145)]])
    assert m.detection_rate == 0 and m.false_alarms_per_minute == pytest.approx(1.0)
    assert math.isnan(m.delay_frames)


def test_silence_in_a_stream_without_gestures_is_perfect():
    m = measure_streams([_stream(gestures=())], [[]])
    assert m.jaccard_index == 1.0 and m.false_alarms_per_minute == 0.0


def test_perfect_events_overlap_wholly():
    events = [Event(g.begin, g.end, g.label, 1.0, g.end) for g in TRUTH]
    assert jaccard_index(TRUTH, events, 1800) == 1.0
    m = measure_streams([_stream()], [events])
    assert (m.detection_rate, m.false_alarms_per_minute, m.delay_frames) == (1.0, 0.0, 0.0)
    assert set(m.as_dict()) >= {"detection_rate", "jaccard_index", "delay_frames"}
