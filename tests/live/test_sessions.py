"""Sessions in which gestures are asked for: found by request, estimated in time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.live import Event, Gesture, Stream, WindowPlan, load_live_data, measure_streams
from bandstop.live.sessions import liveliest, session_stream
from bandstop.live.windows import training_windows
from bandstop.skeleton.readers.jackknife import GESTURES, Request, Session
from tests.skeleton.test_read_jackknife import session_bytes


def _frames(count: int, lively: list[tuple[int, int]]) -> np.ndarray:
    """A hand that trembles, and moves fast during ``lively``."""
    random = np.random.default_rng(0)
    steps = random.normal(0, 0.01, (count, 21, 3))
    for begin, end in lively:
        steps[begin:end] += 1.0
    return np.cumsum(steps, axis=0).astype(np.float32)


def test_the_gesture_is_the_liveliest_part_of_its_request() -> None:
    requests = (
        Request(0, 100, "love", True),
        Request(100, 200, "love", False),
        Request(200, 300, "redrum", False),
    )
    session = Session(_frames(300, [(130, 160), (230, 260)]), requests, "U300")
    stream = session_stream(session, ("explode", "love"))
    assert [(r.begin, r.label) for r in stream.requests] == [(0, -1), (100, 1), (200, -1)]
    (gesture,) = stream.gestures
    assert gesture.label == 1 and abs(gesture.begin - 130) <= 3 and abs(gesture.end - 160) <= 3
    assert stream.minutes == pytest.approx(100 / 1800)
    assert [stream.judged(at) for at in (100, 101, 200, 201)] == [False, True, True, False]


def test_a_short_pause_does_not_end_a_gesture() -> None:
    speed = np.zeros(100)
    speed[20:35], speed[42:60], speed[90:92] = 1.0, 1.0, 1.0
    begin, end = liveliest(speed)
    assert begin <= 20 and 60 <= end < 70
    assert liveliest(np.zeros(30)) == (0, 30)


def test_judged_by_request_and_not_where_it_failed() -> None:
    asked = (Gesture(0, 100, -1), Gesture(100, 200, 0), Gesture(200, 300, 1))
    stream = Stream(
        np.zeros((300, 1, 3), np.float32), (Gesture(120, 150, 0), Gesture(220, 260, 1)), "", 30.0, asked
    )
    named = [
        Event(10, 40, 1, 0.9, 50),  # while no answer is wrong
        Event(100, 108, 0, 0.9, 110),  # no overlap with the estimate, but within the request
        Event(120, 150, 0, 0.9, 160),  # the same gesture once more
        Event(220, 250, 0, 0.9, 270),  # a wrong name
    ]
    found = measure_streams([stream], [named])
    assert (found.gestures, found.detection_rate) == (2, 0.5)
    assert found.false_alarms_per_minute == pytest.approx(2 / (200 / 1800))
    assert found.delay_frames == 110 - 150


def test_no_window_is_learned_from_where_a_request_failed() -> None:
    asked = (Gesture(0, 100, -1), Gesture(100, 200, 0))
    stream = Stream(np.zeros((200, 2, 3), np.float32), (Gesture(120, 150, 0),), "", 30.0, asked)
    windows = training_windows([stream], ["love"], WindowPlan(20, 4), none_share=50.0)
    ends = [int(name.split("@")[1]) for name in windows.sequence_ids]
    assert min(ends) > 100 and 0 in windows.labels and 1 in windows.labels


def test_live_data_of_a_folder_of_sessions(tmp_path: Path) -> None:
    love, duck = GESTURES.index("love") + 1, GESTURES.index("duck") + 1
    (tmp_path / "sessions").mkdir()
    for user in range(3):
        asked = [(love, 0)] * 60 + [(love + 1, 1)] * 60
        content = session_bytes(asked, _frames(120, [(20, 40), (80, 100)]))
        (tmp_path / "sessions" / f"U{user}").write_bytes(content)
    with pytest.raises(DataError, match="at least four sessions are needed, found 3"):
        load_live_data(f"jackknife:{tmp_path}")
    (tmp_path / "sessions" / "U3").write_bytes(content)
    data = load_live_data(f"jackknife:{tmp_path}")
    assert [len(part) for part in (data.train, data.validation, data.test)] == [2, 1, 1]
    assert data.class_names == ("love",) and data.joint_names[0] == "palm"  # redrum is left out
    (tmp_path / "sessions" / "U4").write_bytes(session_bytes([(duck, 0)] * 60, _frames(60, [])))
    with pytest.raises(DataError, match="gestures of both sensors"):
        load_live_data(f"jackknife:{tmp_path}")
