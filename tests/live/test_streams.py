"""Generated and joined streams."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from bandstop.errors import ConfigError
from bandstop.live import NONE, join_sequences, make_hand_streams
from bandstop.live.data import joined_live
from bandstop.live.joined import gestures_and_idle
from bandstop.skeleton import SequenceSet
from bandstop.skeleton.hands import make_hands

SMALL = {"people": (2, 1, 1), "repetitions": (1, 1, 2)}


def _digest(streams) -> str:
    digest = hashlib.sha256()
    for stream in streams:
        digest.update(stream.joints.tobytes())
        digest.update(repr(stream.gestures).encode())
    return digest.hexdigest()


def test_same_seed_same_bytes():
    one, again, other = (make_hand_streams(seed, **SMALL) for seed in (3, 3, 4))
    assert _digest(one.train) == _digest(again.train)
    assert _digest(one.test) == _digest(again.test)
    assert _digest(one.train) != _digest(other.train)


def test_every_gesture_once_in_order_and_with_idle_time_between():
    for stream in make_hand_streams(0, **SMALL).train:
        assert sorted(g.label for g in stream.gestures) == list(range(16))
        for before, after in zip(stream.gestures, stream.gestures[1:], strict=False):
            assert after.begin - before.end >= 18
        assert stream.gestures[0].begin > 0 and stream.gestures[-1].end < len(stream)
        longest = max(b.begin - a.end for a, b in zip(stream.gestures, stream.gestures[1:], strict=False))
        assert longest > 20 * 30 or len(stream) - stream.gestures[-1].end > 20 * 30


def test_groups_share_nobody():
    made = make_hand_streams(0, **SMALL)
    people = [{s.subject for s in group} for group in (made.train, made.validation, made.test)]
    assert not people[0] & people[1] and not people[1] & people[2] and not people[0] & people[2]
    assert len(made.test) == 2


def test_nothing_jumps_where_parts_meet():
    for stream in make_hand_streams(2, **SMALL).train:
        wrist = np.linalg.norm(np.diff(stream.joints[:, 0], axis=0), axis=1)
        # Sensor noise of up to 3 mm a coordinate and a fast hand of 1.5 m/s: below 80 mm in 1/30 s.
        assert wrist.max() < 80


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"people": (0, 1, 1)}, {"repetitions": (1, 1, 0)}])
def test_impossible_requests_are_refused(wrong):
    with pytest.raises(ConfigError, match="stream"):
        make_hand_streams(**wrong)


def _cutouts(none: bool = False) -> SequenceSet:
    hands = make_hands(1, train_people=3, test_people=1, repetitions=1)
    if not none:
        return hands
    idle = np.repeat(hands[0][:1], 300, axis=0) + np.linspace(0, 9, 300, dtype=np.float32)[:, None, None]
    return SequenceSet.from_sequences(
        [*hands, idle],
        labels=[*(hands.labels + 1), 0],
        class_names=[NONE, *hands.class_names],
        subjects=[*hands.subjects, hands.subjects[0]],
        split=[*hands.split, "train"],
        edges=hands.edges,
        root=hands.root,
    )


def test_joined_streams_hold_the_cutouts_unchanged():
    hands = _cutouts()
    streams = join_sequences(hands, seed=0, per_stream=10)
    assert sum(len(s.gestures) for s in streams) == len(hands)
    assert _digest(streams) == _digest(join_sequences(hands, seed=0, per_stream=10))
    by_subject = {s.subject for s in streams}
    assert by_subject == set(hands.subjects.tolist())
    gesture, stream = streams[0].gestures[0], streams[0]
    part = stream.joints[gesture.begin : gesture.end]
    wanted = [h - h[:1, :1] for h in hands]
    assert any(w.shape == part.shape and np.allclose(w, part, atol=1e-3) for w in wanted)
    step = np.linalg.norm(np.diff(stream.joints, axis=0), axis=-1).max()
    inside = max(np.linalg.norm(np.diff(h, axis=0), axis=-1).max() for h in hands)
    assert step < max(60.0, 1.5 * inside)


def test_idle_recordings_become_what_lies_between():
    gestures, idle = gestures_and_idle(_cutouts(none=True))
    assert gestures.class_names == _cutouts().class_names and len(idle) == 1
    assert (gestures.labels == _cutouts().labels).all()
    stream = join_sequences(gestures, idle, seed=0)[0]
    first = stream.joints[: stream.gestures[0].begin - 20]
    # The recording drifts evenly; so does the idle part made of it, up to where it turns back.
    steps = np.diff(first[:, 0, 0])
    assert np.abs(np.abs(steps) - 9 / 299).max() < 0.02


def test_streams_of_a_split_share_no_sequence():
    live = joined_live(_cutouts(none=True), seed=0)
    assert live.test and {s.subject for s in live.test} == {"person 04"}
    assert not {s.subject for s in live.train} & {s.subject for s in live.test}
    assert NONE not in live.class_names
