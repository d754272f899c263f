"""Tables of one sequence a row: static poses and histories of a point."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import Reading, describe, load
from bandstop.skeleton.layouts import MEDIAPIPE_HAND
from tests.skeleton.sample_trees import keypoint_table, motion, write


def test_keypoints_with_their_labels(tmp_path: Path) -> None:
    for spec in (keypoint_table(tmp_path), str(tmp_path / "keypoint.csv")):
        s = load(spec)
        assert (s.name, s.class_names, s.labels.tolist()) == ("keypoint", ("Open", "Close"), [0, 1, 0, 1])
        assert (s.lengths.tolist(), s.layout, s.guessed) == ([1] * 4, "mediapipe hand", False)
        assert np.allclose(s.joints[:, :, :2], motion(4, 21)[:, :, :2])
        assert s.sequence_ids.tolist() == [f"keypoint/{i}" for i in range(1, 5)]


def test_without_labels_classes_are_numbers(tmp_path: Path) -> None:
    spec = keypoint_table(tmp_path)
    (tmp_path / "keypoint_classifier_label.csv").unlink()
    assert load(spec).class_names == ("class 0", "class 1")
    write(tmp_path / "keypoint_classifier_label.csv", "Open\n")
    with pytest.raises(DataError, match=r"label\.csv, line 1: 1 class names, but keypoint\.csv has class 1"):
        load(spec)


def test_histories_of_a_point(tmp_path: Path) -> None:
    points = motion(16, 1)[:, 0, :2]
    rows = [f"{label}," + ",".join(map(str, (points * (label + 1)).ravel().tolist())) for label in range(3)]
    still = "0," + ",".join("0" * 32)
    write(tmp_path / "point_history.csv", "\n".join([*rows, still]) + "\n")
    s = load(str(tmp_path))
    assert (s.joints.shape, s.lengths.tolist(), s.joint_names) == ((64, 1, 3), [16] * 4, ("index tip",))
    assert np.allclose(s[1][:, 0, :2], points * 2)
    assert s.repaired() is s
    assert describe(s).zero_frames == 0


@pytest.mark.parametrize("place", [0, 63])
def test_a_header_with_a_label_column(tmp_path: Path, place: int) -> None:
    names = [f"{axis}{i}" for i in range(21) for axis in "xyz"]
    names.insert(place, "Label")
    lines = [",".join(names)]
    for sign, frame in zip("bab", motion(3, 21), strict=True):
        fields = [repr(value) for value in frame.ravel().tolist()]
        fields.insert(place, sign)
        lines.append(",".join(fields))
    s = load(str(write(tmp_path / "signs.csv", "\n".join(lines) + "\n")))
    assert (s.class_names, s.labels.tolist(), s.lengths.tolist()) == (("a", "b"), [1, 0, 1], [1, 1, 1])
    assert np.allclose(s.joints, motion(3, 21))
    assert (sorted(s.joint_names), s.guessed) == (sorted(MEDIAPIPE_HAND.joint_names), True)


def test_columns_as_the_user_says(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "0,1,2,3,4\n1,5,6,7,8\n")
    with pytest.raises(
        DataError, match="expected a class number and 42 or 63 coordinates of a hand, found 4"
    ):
        load(str(file))
    s = load(str(file), Reading(columns="xy"))
    assert s.joints.tolist() == [[[1, 2, 0], [3, 4, 0]], [[5, 6, 0], [7, 8, 0]]]


@pytest.mark.parametrize("first", ["-1", "0.5", "nan", "1e9"])
def test_a_wrong_class_number_is_refused_with_its_line(tmp_path: Path, first: str) -> None:
    row = "," + ",".join("1" * 42) + "\n"
    file = write(tmp_path / "keypoint.csv", f"0{row}{first}{row}")
    with pytest.raises(DataError, match="line 2: the first column must be a class number"):
        load(str(file))


def test_an_endless_class_name_is_refused_in_a_sentence(tmp_path: Path) -> None:
    file = write(tmp_path / "keypoint.csv", "0," + ",".join("1" * 42) + "\n")
    write(tmp_path / "keypoint_classifier_label.csv", "x" * 200_000)
    with pytest.raises(DataError, match=r"label\.csv, line 1: not a readable CSV file"):
        load(str(file))
