"""FPHA's tree and split file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import load, load_sequence
from bandstop.skeleton.layouts import HAND
from bandstop.skeleton.readers.fpha import SPLIT_FILE, TREE
from tests.skeleton.sample_trees import fpha_tree, motion, numbered_rows, write


def test_the_split_file_decides(tmp_path: Path) -> None:
    spec = fpha_tree(tmp_path)
    write(tmp_path / TREE / "Subject_2" / "grasp" / "9" / "skeleton.txt", "")  # not in the split: never read
    s = load(spec)
    assert s.class_names == ("wave", "grasp")
    assert s.labels.tolist() == [0, 1, 0, 1]
    assert s.split.tolist() == ["train", "train", "train", "test"]
    assert s.subjects.tolist() == ["1", "1", "2", "2"]
    assert s.sequence_ids.tolist()[3] == "Subject_2/grasp/1"
    assert (s.root, s.joint_names, len(s.edges)) == (0, HAND.joint_names, 20)
    assert np.allclose(s[0], motion(4, 21, seed=10), atol=1e-5)


def test_all_places_of_the_split_file(tmp_path: Path) -> None:
    fpha_tree(tmp_path)
    assert len(load(f"fpha:{tmp_path / TREE}")) == 4
    (tmp_path / SPLIT_FILE).rename(tmp_path / TREE / SPLIT_FILE)
    assert len(load(f"fpha:{tmp_path}")) == len(load(f"fpha:{tmp_path / TREE}")) == 4
    (tmp_path / TREE / SPLIT_FILE).unlink()
    with pytest.raises(DataError, match=f"{SPLIT_FILE} is neither in this folder nor beside"):
        load(f"fpha:{tmp_path}")


def test_class_numbers_may_have_holes(tmp_path: Path) -> None:
    spec = fpha_tree(tmp_path)
    split = tmp_path / SPLIT_FILE
    split.write_text(split.read_text().replace("wave/1 0", "wave/1 30").replace("wave/2 0", "wave/2 30"))
    s = load(spec)
    assert (s.class_names, s.labels.tolist()) == (("grasp", "wave"), [1, 0, 1, 0])


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("Training 3", "Training 4", 1, "promises 4 sequences and lists 3"),
        ("Test 1", "Test 2", 5, "promises 2 sequences and lists 1"),
        ("Training 3\n", "", 1, "a sequence before the first"),
        ("wave/2 0", "wave/2 1", 4, "class wave is number 1 here"),
        (
            "grasp/1 1\nSubject_2",
            "grasp/1 0\nSubject_2",
            3,
            "class grasp is number 0 here, but wave has that",
        ),
        ("Subject_2/wave/2 0", "Subject_1/wave/1 0", 4, "listed twice, first in line 2"),
        ("Subject_2/wave/2 0", "../../etc/passwd 0", 4, "expected"),
        ("Subject_2/wave/2 0", "Subject_2/../wave/2 0", 4, "expected"),
        ("Subject_2/wave/2 0", "Subject_2/wave/2", 4, "expected"),
        ("Subject_2/wave/2 0", "Subject_2/wave/7 0", 4, "Subject_2/wave/7 is listed but there is no"),
    ],
)
def test_a_wrong_split_file_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    spec = fpha_tree(tmp_path)
    split = tmp_path / SPLIT_FILE
    assert old in split.read_text()
    split.write_text(split.read_text().replace(old, new, 1))
    with pytest.raises(DataError, match=message) as refused:
        load(spec)
    assert str(refused.value).startswith(f"{split}, line {line}: ")


def test_frames_left_out_are_interpolated(tmp_path: Path) -> None:
    rows = numbered_rows(motion(5, 21), " ").splitlines(keepends=True)
    found = load_sequence(write(tmp_path / "skeleton.txt", "".join(rows[:2] + rows[3:])))
    assert found.shape == (5, 21, 3)
    assert np.isnan(found[2]).all()
    assert np.isfinite(found[[0, 1, 3, 4]]).all()


@pytest.mark.parametrize(
    ("edit", "line", "message"),
    [
        (lambda rows: [rows[0], rows[1][: len(rows[1]) // 2] + "\n", rows[2]], 2, "expected 64 columns"),
        (lambda rows: [rows[0], rows[2], rows[1]], 3, "frame numbers must rise, found 1"),
        (lambda rows: [rows[0], rows[0]], 2, "frame numbers must rise, found 0"),
        (lambda rows: [rows[0], "9999" + rows[1][4:]], 2, "numbered over a span of 10,000"),
        (lambda rows: ["0.5" + rows[0][4:]], 1, "must be a frame number, found 0.5"),
        (lambda rows: ["nan" + rows[0][4:]], 1, "must be a frame number, found nan"),
        (lambda rows: [rows[0].replace(" ", ",")], 1, "expected 64 columns, found 1"),
    ],
)
def test_a_wrong_sequence_is_refused_with_its_line(tmp_path: Path, edit, line: int, message: str) -> None:
    rows = numbered_rows(motion(3, 21), " ").splitlines(keepends=True)
    file = write(tmp_path / "skeleton.txt", "".join(edit(rows)))
    with pytest.raises(DataError, match=message) as refused:
        load_sequence(file)
    assert str(refused.value).startswith(f"{file}, line {line}: ")
