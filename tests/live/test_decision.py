"""The decision rule, look by look."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bandstop.errors import ConfigError
from bandstop.live import Decider, DecisionRule
from bandstop.live.looks import Looks, events_of

QUIET, FIRST, SECOND = [0.0, 0.0, 9.0], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0]
PLAIN = DecisionRule(threshold=0.6, smooth=1, patience=0, refractory=0, lag=0, durations=(20, 30))


def _events(rows, rule=PLAIN, hop=3):
    return events_of(Looks(np.arange(1, len(rows) + 1) * hop, np.array(rows, np.float32)), rule)


def test_nothing_is_named_while_nothing_happens():
    assert _events([QUIET] * 20) == []


def test_one_event_however_long_the_class_stays():
    (event,) = _events([QUIET, *[FIRST] * 10, QUIET])
    assert (event.label, event.at, event.end) == (0, 6, 6)
    assert event.begin == 0 and event.confidence > 0.99


def test_the_same_class_again_only_after_its_release():
    dip = [1.0, 0.0, 1.5]  # probability 0.33: below the threshold, above the release
    assert len(_events([FIRST, dip, FIRST, dip, FIRST])) == 1
    assert len(_events([FIRST, QUIET, FIRST])) == 2


def test_another_class_need_not_wait_for_the_release():
    assert [e.label for e in _events([FIRST, SECOND, FIRST])] == [0, 1, 0]


def test_refractory_time_in_frames():
    rule = replace(PLAIN, refractory=9)
    rows = [FIRST, SECOND, SECOND, SECOND, SECOND]
    assert [(e.label, e.at) for e in _events(rows, rule)] == [(0, 3), (1, 12)]


def test_a_candidate_waits_for_a_better_one():
    rule = replace(PLAIN, patience=2)
    weak = [2.0, 0.0, 0.0]  # 0.79
    (event,) = _events([QUIET, weak, SECOND, QUIET, QUIET], rule)
    assert (event.label, event.end, event.at) == (1, 9, 12)


def test_smoothing_wants_more_than_one_look():
    rule = replace(PLAIN, smooth=3)
    assert _events([QUIET, QUIET, FIRST, QUIET, QUIET], rule) == []
    (event,) = _events([QUIET, QUIET, FIRST, FIRST, QUIET], rule)
    assert event.confidence == pytest.approx(2 / 3, abs=0.01)
    # Before three looks have come, the missing ones count as nothing.
    assert _events([FIRST], rule) == []


def test_temperature_lowers_confidence():
    (sure,), (doubtful,) = _events([FIRST]), _events([FIRST], replace(PLAIN, temperature=5.0))
    assert doubtful.confidence < sure.confidence


def test_lag_and_usual_duration_place_the_event():
    rows = [QUIET] * 30 + [SECOND]
    (event,) = _events(rows, replace(PLAIN, lag=5))
    assert (event.begin, event.end, event.at) == (93 - 5 - 30, 88, 93)


def test_reset_forgets():
    decider = Decider(PLAIN)
    assert decider.look(FIRST, 3) is not None
    assert decider.look(FIRST, 6) is None
    decider.reset()
    assert decider.look(FIRST, 3) is not None


@pytest.mark.parametrize(
    "wrong", [{"threshold": 0}, {"threshold": 1.2}, {"smooth": 0}, {"temperature": 0}, {"patience": -1}]
)
def test_impossible_rules_are_refused(wrong):
    with pytest.raises(ConfigError, match="a decision needs"):
        DecisionRule(**wrong)
