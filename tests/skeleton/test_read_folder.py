"""The newcomer's folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import load, load_sequence
from bandstop.skeleton.layouts import COCO_17, HAND, MEDIAPIPE_TO_HAND
from tests.skeleton.sample_trees import array_folder, motion, write


def test_all_three_kinds_of_files_are_read(tmp_path: Path) -> None:
    s = load(array_folder(tmp_path / "mine"))
    assert (s.name, s.class_names, s.split.tolist()) == ("mine", ("grasp", "wave"), [""] * 6)
    assert s.sequence_ids.tolist()[:3] == ["grasp/s01_a.npy", "grasp/s01_c.csv", "grasp/s02_b.npz"]
    assert s.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert s.subjects.tolist() == ["1", "1", "2"] * 2
    assert s.edges.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert np.array_equal(s[0], motion(4, 5, seed=0))
    assert np.allclose(s[1], motion(6, 5, seed=0), atol=1e-5)
    assert np.array_equal(s[5], motion(3, 5, seed=1))


def test_train_and_test_folders_make_the_split(tmp_path: Path) -> None:
    for part, action in (("train", "wave"), ("train", "grasp"), ("test", "wave")):
        (tmp_path / part / action).mkdir(parents=True)
        np.save(tmp_path / part / action / "a.npy", motion(3, 17))
    s = load(str(tmp_path))
    assert s.sequence_ids.tolist() == ["test/wave/a.npy", "train/grasp/a.npy", "train/wave/a.npy"]
    assert (s.split.tolist(), s.labels.tolist()) == (["test", "train", "train"], [1, 0, 1])
    assert (s.edges.tolist(), s.joint_names) == ([list(edge) for edge in COCO_17.edges], COCO_17.joint_names)
    (tmp_path / "val").mkdir()
    with pytest.raises(DataError, match="val: a folder beside train/ and test/"):
        load(str(tmp_path))


def test_an_unknown_number_of_joints_has_no_edges(tmp_path: Path) -> None:
    (tmp_path / "wave").mkdir()
    np.save(tmp_path / "wave" / "a.npy", motion(3, 6))
    s = load(str(tmp_path))
    assert s.edges.shape == (0, 2)
    assert s.joint_names == ()


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
def test_csv_with_any_separator_and_a_header(tmp_path: Path, separator: str) -> None:
    text = separator.join(["x0", "y0", "z0"]) + "\n" + separator.join(["1", "2.5", "-3e1"]) + "\r\n\n"
    assert load_sequence(write(tmp_path / "a.csv", text)).tolist() == [[[1.0, 2.5, -30.0]]]


def test_empty_fields_and_values_beyond_float32_are_kept_as_faults(tmp_path: Path) -> None:
    found = load_sequence(write(tmp_path / "a.csv", "x,y,z\n1,,nan\n1e300,-inf,2\n"))
    assert np.array_equal(found, [[[1, np.nan, np.nan]], [[np.inf, -np.inf, 2]]], equal_nan=True)


def test_flat_sequences_lie_in_the_plane(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", motion(3, 4)[:, :, :2].astype(np.float64))
    assert (load_sequence(tmp_path / "a.npy")[:, :, 2] == 0).all()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("x,y,z\n1,2,3\n4,5\n", 3, "expected 3 columns, found 2"),
        ("x,y,z\n1,2,3\n\n4,x,6\n", 4, "'x' is not a number"),
        ("x,y,z\na,2,3\n", 2, "'a' is not a number"),
        ("1,2\n", 1, "2 columns without a header fit no known skeleton"),
        ("x,y,z\n", 1, "no line with numbers"),
        ("x,y,z\n1,2,1_0\n", 2, "'1_0' is not a number"),
        ("x,y,z\nx,y,z\n", 2, "'x' is not a number"),
    ],
)
def test_wrong_csv_is_refused_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    file = write(tmp_path / "a.csv", text)
    with pytest.raises(DataError, match=message) as refused:
        load_sequence(file)
    assert str(refused.value).startswith(f"{file}, line {line}: ")


@pytest.mark.parametrize(
    "value",
    [np.zeros((3, 4)), np.zeros((3, 4, 4)), np.zeros((0, 4, 3)), np.array("text"), np.zeros((2, 2, 3), bool)],
)
def test_wrong_arrays_are_refused(tmp_path: Path, value: np.ndarray) -> None:
    np.save(tmp_path / "a.npy", value)
    with pytest.raises(DataError, match=r"a\.npy: a sequence must be numbers \[frames, joints, 3\]"):
        load_sequence(tmp_path / "a.npy")


def test_an_npz_with_several_unnamed_arrays_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.zeros(1), b=np.zeros(1))
    with pytest.raises(DataError, match="single array or one named joints, found 'a, b'"):
        load_sequence(tmp_path / "a.npz")


def test_wrong_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no class folder"):
        load(str(tmp_path))
    (tmp_path / "wave").mkdir()
    with pytest.raises(DataError, match="wave: no sequence in this class folder"):
        load(str(tmp_path))
    np.save(tmp_path / "wave" / "a.npy", motion(3, 4))
    np.save(tmp_path / "wave" / "b.npy", motion(3, 5))
    with pytest.raises(
        DataError, match=r"b\.npy: all sequences must have the same joints: 4 in .*a\.npy, 5 here"
    ):
        load(str(tmp_path))
    (tmp_path / "wave" / "b.npy").unlink()
    write(tmp_path / "wave" / "b.csv", "x,y,z\n1,2,3\n")
    with pytest.raises(DataError, match=r"b\.csv, line 1: all sequences must have the same joints"):
        load(str(tmp_path))
    (tmp_path / "wave" / "deeper").mkdir()
    with pytest.raises(DataError, match="deeper: a folder inside a class folder"):
        load(str(tmp_path))


@pytest.mark.parametrize("text", ["0,9\n", "0,-1\n", "0,0.5\n", "0,nan\n"])
def test_wrong_edges_are_refused_with_their_line(tmp_path: Path, text: str) -> None:
    array_folder(tmp_path)
    write(tmp_path / "edges.csv", "0,1\n" + text)
    with pytest.raises(DataError, match=r"edges\.csv, line 2: an edge must be two joint indexes from 0 to 4"):
        load(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1,2\n3,3\n", r"line 3: a bone must join two joints, found one from joint 3 to itself"),
        ("1,2\n\n1,0\n", r"line 4: every bone must be told once, found that of joints 1 and 0 as in line 1"),
        ("1,2\n1,2\n", r"line 3: every bone must be told once, found that of joints 1 and 2 as in line 2"),
    ],
)
def test_a_bone_joins_two_joints_and_is_told_once(tmp_path: Path, text: str, problem: str) -> None:
    array_folder(tmp_path)
    write(tmp_path / "edges.csv", "0,1\n" + text)
    with pytest.raises(DataError, match=rf"edges\.csv, {problem}"):
        load(str(tmp_path))


def test_a_folder_of_mediapipe_arrays_gets_the_right_bones(tmp_path: Path) -> None:
    ours = np.cumsum(np.ones((2, 21, 3)), axis=0)
    for a, b in HAND.edges:  # each joint one step further than its parent
        ours[:, b] = ours[:, a] + [1 + 0.1 * b, b, 0]
    theirs = np.empty_like(ours)
    theirs[:, MEDIAPIPE_TO_HAND] = ours
    (tmp_path / "wave").mkdir()
    np.save(tmp_path / "wave" / "a.npy", theirs)
    assert load(str(tmp_path)).joint_names[4] == "thumb tip"
