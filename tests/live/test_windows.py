"""Windows of streams as training sequences."""

from __future__ import annotations

import numpy as np
import pytest

from bandstop.errors import ConfigError, DataError
from bandstop.live import Gesture, Stream, WindowPlan
from bandstop.live.decision import DecisionRule
from bandstop.live.windows import label_window, training_windows

PLAN = WindowPlan(40, hop=3, soonest=1, latest=10)


TWO = (Gesture(100, 130, 0), Gesture(250, 290, 1))


def _stream(frames=400, gestures=TWO) -> Stream:
    joints = np.arange(frames, dtype=np.float32)[:, None, None].repeat(3, axis=2)
    return Stream(joints, gestures, "someone")


def test_a_window_has_the_class_of_the_gesture_that_just_ended():
    stream, labels = _stream(), {}
    for end in range(40, 401):
        labels.setdefault(label_window(stream.gestures, end, PLAN), []).append(end)
    assert labels[0] == list(range(131, 141)) and labels[1] == list(range(291, 301))
    assert {126, 130, 144} <= set(labels[-2]) and {125, 145} <= set(labels[-1])


def test_windows_are_pieces_of_the_stream_with_none_last():
    found = training_windows([_stream()], ["a", "b"], PLAN, per_gesture=3, none_share=2.0)
    assert found.class_names == ("a", "b", "none")
    assert np.bincount(found.labels).tolist() == [3, 3, 12]
    for window, label in zip(found, found.labels, strict=True):
        assert len(window) == 40 and (np.diff(window[:, 0, 0]) == 1).all()
        end = int(window[-1, 0, 0]) + 1
        wanted = label_window(_stream().gestures, end, PLAN)
        assert wanted == (-1 if label == 2 else label)


def test_same_seed_same_windows():
    one, again, other = (training_windows([_stream()], ["a", "b"], PLAN, seed=s).joints for s in (0, 0, 1))
    assert np.array_equal(one, again)
    assert one.shape != other.shape or not np.array_equal(one, other)


def test_plan_for_the_gestures_at_hand():
    plan = WindowPlan.for_streams([_stream()])
    assert plan.length >= 40 + plan.latest and plan.hop in (5, 6) and plan.block(16) == plan.hop
    slow = Stream(_stream().joints, _stream().gestures, frames_per_second=15)
    assert WindowPlan.for_streams([slow]).hop in (3, 4)


def test_refusals():
    with pytest.raises(ConfigError, match="plan of windows"):
        WindowPlan(1)
    with pytest.raises(DataError, match="at least one gesture"):
        WindowPlan.for_streams([_stream(gestures=())])
    with pytest.raises(DataError, match="no gesture ends later"):
        training_windows([_stream(60, (Gesture(5, 20, 0),))], ["a"], PLAN)


@pytest.mark.parametrize("length", [1, 2**31])
def test_a_window_of_no_or_of_all_frames_is_refused(length: int) -> None:
    with pytest.raises(ConfigError, match="length of 2 to 100,000"):
        WindowPlan(length)
    with pytest.raises(ConfigError, match="smooth"):
        DecisionRule(smooth=length * 1001)
