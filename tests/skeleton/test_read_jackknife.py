"""Jackknife's samples and sessions, on small files of their form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import load
from bandstop.skeleton.readers.jackknife import GESTURES, Request, read_session
from tests.skeleton.sample_trees import jackknife_sample, jackknife_tree, motion, write


def session_bytes(asked: list[tuple[int, int]], joints: np.ndarray) -> bytes:
    """One record a frame: (gesture, request), three numbers about the screen, 63 coordinates."""
    records = np.zeros((len(asked), 68), "<f4")
    records[:, 5:] = joints.reshape(len(joints), 63)
    records.view("<i4")[:, :2] = asked
    return records.tobytes()


def test_samples_of_a_hand(tmp_path: Path) -> None:
    s = load(jackknife_tree(tmp_path))
    assert (s.name, s.class_names, s.labels.tolist()) == ("jackknife", ("explode", "love"), [0, 1, 1])
    assert s.subjects.tolist() == ["U300", "U300", "U301"]
    assert s.sequence_ids[2] == "Sub_U301/love/ex_2"
    assert (s.joint_names[0], s.joint_names[8], len(s.edges), s.root) == ("palm", "index tip", 20, 0)
    assert np.allclose(s[2], motion(3, 21, seed=2), atol=1e-4)


def test_samples_of_a_body_have_the_joints_of_kinect(tmp_path: Path) -> None:
    for user in ("U100", "U101"):
        path = tmp_path / "training" / f"Sub_{user}" / "push" / "ex_1.txt"
        write(path, jackknife_sample("push", motion(2, 21)))
    s = load(f"jackknife:{tmp_path}")
    assert (s.joint_names[1], s.joint_names[s.root], s.joint_names[20]) == (
        "spine",
        "spine",
        "shoulder centre",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("love", "hate", 1), "line 1: this sample says 'hate', its folder love"),
        (lambda text: text.replace("3\n####", "4\n####", 1), "line 2: the file says 4 frames and holds 3"),
        (lambda text: text.replace("####\n", "", 1), "line 3: expected the gesture's name"),
        (lambda text: text.rsplit("\n", 2)[0] + "\n", "a frame must have 21 points between lines of ####"),
        (lambda text: text.replace("\n####\n", "\n####\n1,2,3\n", 1), "a frame must have 21 points"),
    ],
)
def test_a_broken_sample_is_refused_with_its_line(tmp_path: Path, change, message: str) -> None:
    spec = jackknife_tree(tmp_path)
    path = tmp_path / "training/Sub_U301/love/ex_2.txt"
    write(path, change(path.read_text()))
    with pytest.raises(DataError, match=message) as refused:
        load(spec)
    assert str(refused.value).startswith(f"{path}, line ")


def test_gestures_of_no_sensor_are_named(tmp_path: Path) -> None:
    spec = jackknife_tree(tmp_path)
    write(tmp_path / "training/Sub_U300/nod/ex_1.txt", jackknife_sample("nod", motion(2, 21)))
    with pytest.raises(DataError, match="found nod; name one of the folders leap_motion and kinect"):
        load(spec)


def test_a_session_without_repeated_and_lost_frames(tmp_path: Path) -> None:
    joints = motion(9, 21)
    joints[2] = joints[1]  # the recorder was faster than the sensor
    joints[5, 4] = np.nan  # tracking was lost
    love, explode = GESTURES.index("love") + 1, GESTURES.index("explode") + 1
    asked = [(love, 0)] * 4 + [(love, 1)] * 3 + [(explode, 2)] * 2
    session = read_session(write(tmp_path / "U300", session_bytes(asked, joints)))
    assert (session.user, session.frames.shape) == ("U300", (7, 21, 3))
    assert session.requests == (
        Request(0, 3, "love", failed=True),
        Request(3, 5, "love", failed=False),
        Request(5, 7, "explode", failed=False),
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x" * 300, "a session has 272 bytes a frame, found 300"),
        (session_bytes([(0, 0)], motion(1, 21)), "gestures are numbered 1 to 23"),
        (session_bytes([(1, 0)], np.full((1, 21, 3), np.nan)), "no frame of the session has all its joints"),
    ],
)
def test_what_is_no_session_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_session(write(tmp_path / "U300", content))
