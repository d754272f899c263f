"""MediaPipe hand landmarks in the shapes that people save them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import load
from bandstop.skeleton.layouts import HAND, MEDIAPIPE_HAND, MEDIAPIPE_TO_HAND
from bandstop.skeleton.readers.mediapipe import read_landmarks
from tests.skeleton.sample_trees import mediapipe_folder, motion, write

FRAMES = motion(4, 21).tolist()
THEIRS = motion(4, 21)
POINTS = [[dict(zip("xyz", point, strict=True)) for point in frame] for frame in FRAMES]


def test_all_kinds_of_files_hold_the_same_motion(tmp_path: Path) -> None:
    s = load(mediapipe_folder(tmp_path))
    assert (s.class_names, s.labels.tolist()) == (("grasp", "wave"), [0, 0, 1, 1])
    assert s.subjects.tolist() == ["1", "2", "1", "2"]
    assert (s.root, s.joint_names, s.edges.tolist()) == (
        0,
        MEDIAPIPE_HAND.joint_names,
        [list(edge) for edge in MEDIAPIPE_HAND.edges],
    )
    assert (s.layout, s.guessed) == ("mediapipe hand", False)
    for sequence in s:
        assert np.allclose(sequence, THEIRS, rtol=1e-6)


@pytest.mark.parametrize(
    "document",
    [
        FRAMES,
        POINTS,
        {"frames": FRAMES},
        {"landmarks": FRAMES},
        {"multiHandLandmarks": [[frame] for frame in POINTS]},
        [{"multiHandLandmarks": [frame, frame[::-1]]} for frame in POINTS],
        [{"hand_landmarks": [{"landmark": frame}]} for frame in POINTS],
        [{"world_landmarks": frame, "time": 3} for frame in FRAMES],
        [{"worldLandmarks": FRAMES[0], "landmarks": frame} for frame in FRAMES],
        [[frame] for frame in FRAMES],
    ],
)
def test_every_shape_of_json(tmp_path: Path, document: object) -> None:
    found = read_landmarks(write(tmp_path / "a.json", json.dumps(document))).frames
    assert np.allclose(found, THEIRS, rtol=1e-6)


def test_joints_stay_in_their_order_and_have_their_names(tmp_path: Path) -> None:
    frame = [[float(landmark), 0.0, 0.0] for landmark in range(21)]
    write(tmp_path / "wave" / "a.json", json.dumps([frame]))
    s = load(f"mediapipe:{tmp_path}")
    assert s.joints[0, :, 0].astype(int).tolist() == list(range(21))
    ours = s.reordered(HAND.joint_names)
    found = ours.joints[0, :, 0].astype(int).tolist()
    assert found == list(MEDIAPIPE_TO_HAND)
    assert [found[HAND.joint_names.index(f"{finger} tip")] for finger in ("thumb", "little")] == [4, 20]
    assert (ours.edges.tolist(), ours.root) == ([list(edge) for edge in HAND.edges], HAND.root)


def test_a_frame_without_a_hand_is_missing_not_zero(tmp_path: Path) -> None:
    document = [
        {"landmarks": FRAMES[0]},
        {"landmarks": []},
        None,
        {"landmarks": [[]]},
        {"landmarks": FRAMES[1]},
    ]
    found = read_landmarks(write(tmp_path / "a.json", json.dumps(document))).frames
    assert np.isnan(found[1:4]).all()
    assert np.isfinite(found[[0, 4]]).all()


def test_points_in_the_plane_and_null_coordinates(tmp_path: Path) -> None:
    frame = [{"x": 1, "y": None}] + [[1, 2]] * 20
    found = read_landmarks(write(tmp_path / "a.json", json.dumps([frame]))).frames
    assert np.isnan(found[0, 0, 1])
    assert (found[0, :, 2] == 0).all()


def csv(header: list[str] | None, rows: np.ndarray) -> str:
    lines = [",".join(map(repr, row.tolist())) for row in rows]
    return "\n".join(([",".join(header)] if header else []) + lines) + "\n"


@pytest.mark.parametrize("first", [None, "frame"])
@pytest.mark.parametrize(
    "names", [None, "x{0}", "{0}_x", "landmark_{0}_x", "hand.x_{0}", "WRIST{0}x", "other-{0}-x"], ids=str
)
def test_csv_with_and_without_header_and_time(tmp_path: Path, names: str | None, first: str | None) -> None:
    rows = motion(4, 21).reshape(4, 63).astype(np.float64)
    header = [names.replace("x", axis).format(i) for i in range(21) for axis in "xyz"] if names else None
    if first:
        rows = np.concatenate([np.arange(4)[:, None] * 33, rows], axis=1)
        header = [first, *header] if header else None
    assert np.allclose(read_landmarks(write(tmp_path / "a.csv", csv(header, rows))).frames, THEIRS, rtol=1e-6)


@pytest.mark.parametrize("base", [0, 1])
def test_csv_columns_go_where_their_names_say(tmp_path: Path, base: int) -> None:
    rows = np.concatenate([np.full((4, 1), 7.0), np.moveaxis(motion(4, 21), 2, 1).reshape(4, 63)], axis=1)
    header = ["score", *(f"{axis}{i + base}" for axis in "xyz" for i in range(21))]
    assert np.allclose(read_landmarks(write(tmp_path / "a.csv", csv(header, rows))).frames, THEIRS, rtol=1e-6)


FRAME_LINES = 21 * 5 + 2
"""Of a frame in indented JSON: five lines a point, and the two brackets."""


@pytest.mark.parametrize("key", [None, "frames"])
@pytest.mark.parametrize(("frame", "problem"), [(0, "x"), (2, "x"), (3, "short")])
def test_a_wrong_frame_is_named_with_its_line(
    tmp_path: Path, key: str | None, frame: int, problem: str
) -> None:
    document = json.loads(json.dumps(POINTS))
    if problem == "x":
        document[frame][5]["x"] = "a,][{"
    else:
        document[frame].pop()
    text = json.dumps(document if key is None else {"name": 'a"[,', key: document}, indent=1)
    file = write(tmp_path / "a.json", text)
    line = 2 + FRAME_LINES * frame + (0 if key is None else 2)
    with pytest.raises(DataError, match=f"frame {frame}: ") as refused:
        read_landmarks(file)
    assert str(refused.value).startswith(f"{file}, line {line}: ")


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("a.json", "[\n[1,\n2,,3]]", 3, "not JSON"),
        ("a.json", "[" * 100_000, 1, "not usable JSON"),
        ("a.json", '{"other": []}', 1, "expected a list of frames, or an object"),
        ("a.json", "[]", 1, "at least one frame"),
        ("a.json", "3", 1, "expected a list of frames"),
        ("a.json", "[3]", 1, "a frame must be a list of landmarks, found int"),
        ("a.json", '[{"other": 1}]', 1, "must have landmarks under one of"),
        ("a.json", "[" + "[" * 20 + "]" * 20 + "]", 1, "nested too deep"),
        ("a.json", "[[[1,2,true]" + ",[1,2,3]" * 20 + "]]", 1, "found bool"),
        ("a.json", "[[[1,2,3,4]" + ",[1,2,3]" * 20 + "]]", 1, "a landmark must be x, y and z"),
        ("a.json", "1" * 5000, 1, "not usable JSON"),
        ("a.jsonl", "\n", 1, "no frame"),
        ("a.jsonl", "[]\n{\n", 2, "not JSON"),
        ("a.jsonl", "[]\n[1]\n", 2, "a hand must have 21 landmarks, found 1"),
        ("a.csv", "1,2,3\n", 1, "expected 63 columns, or 64"),
    ],
)
def test_wrong_files_are_refused_with_their_line(
    tmp_path: Path, name: str, text: str, line: int, message: str
) -> None:
    file = write(tmp_path / name, text)
    with pytest.raises(DataError, match=message) as refused:
        read_landmarks(file)
    assert str(refused.value).startswith(f"{file}, line {line}: ")


def test_a_number_beyond_floats_is_infinite(tmp_path: Path) -> None:
    frame = [[10**400, 1e999, 1]] + [[1, 2, 3]] * 20
    found = read_landmarks(write(tmp_path / "a.json", json.dumps([frame]))).frames
    assert found[0, 0].tolist() == [np.inf, np.inf, 1]
