"""SHREC'17 Track, on a small tree of its form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import load, load_file
from bandstop.skeleton.layouts import SHREC_22
from bandstop.skeleton.readers.shrec import GESTURES
from tests.skeleton.sample_trees import motion, shrec_tree, write


def test_fourteen_gestures_by_the_official_split(tmp_path: Path) -> None:
    s = load(shrec_tree(tmp_path))
    assert (s.name, s.class_names, s.labels.tolist()) == ("shrec 14", GESTURES, [0, 0, 13, 0, 13])
    assert s.split.tolist() == ["train"] * 3 + ["test"] * 2
    assert s.subjects.tolist() == ["1", "2", "1", "3", "3"]
    assert s.sequence_ids[1] == "gesture_1/finger_2/subject_2/essai_1"
    assert (s.layout, s.joint_names, s.guessed) == ("shrec hand", SHREC_22.joint_names, False)
    assert np.allclose(s[1], motion(5, 22, seed=3), atol=1e-5)


def test_twenty_eight_gestures(tmp_path: Path) -> None:
    s = load(shrec_tree(tmp_path) + "@28")
    assert (len(s.class_names), s.labels.tolist()) == (28, [0, 1, 26, 0, 27])
    assert [s.class_names[i] for i in (0, 27)] == ["grab, one finger", "shake, whole hand"]
    assert np.array_equal(s.joints, load(f"shrec:{tmp_path}@14").joints)
    with pytest.raises(DataError, match="SHREC'17 has 14 or 28 classes, found '7'"):
        load(f"shrec:{tmp_path}@7")


def test_one_file(tmp_path: Path) -> None:
    shrec_tree(tmp_path)
    one = load_file(next(tmp_path.rglob("skeletons_world.txt")))
    assert one.layout == "shrec hand"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 1 1 1 1 1", "expected gesture, finger, subject, trial"),
        ("1 1 1 1 15 1 9", "classes must be 1 to 14 and 1 to 28, found 15 and 1"),
        ("1 1 1 1 1 0 9", "found 1 and 0"),
        ("1 1 3 1 1 1 9", "gesture_1/finger_1/subject_3/essai_1 is listed twice, first in line 1"),
        ("1 1 1 1 1 1 4", "gesture_1/finger_1/subject_1/essai_1 is listed twice, first in line 1 of train_"),
        ("1 2 1 1 1 1 4", "class 1 of 14 with finger 2 must be class 2 of 28, found 1"),
        ("9 1 1 1 9 17 9", "gesture_9/finger_1/subject_1/essai_1 is listed but there is no"),
        ("../../a", "expected gesture"),
    ],
)
def test_a_wrong_list_is_refused_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    spec = shrec_tree(tmp_path)
    listed = tmp_path / "test_gestures.txt"
    write(listed, listed.read_text() + line + "\n")
    with pytest.raises(DataError, match=message) as refused:
        load(spec)
    assert str(refused.value).startswith(f"{listed}, line 3: ")


def test_a_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    spec = shrec_tree(tmp_path)
    file = tmp_path / "gesture_1/finger_2/subject_2/essai_1/skeletons_world.txt"
    write(file, "".join(file.read_text().splitlines(keepends=True)[:3]))
    with pytest.raises(
        DataError, match=r"the 5 frames that train_gestures.txt lists \(its line 2\)"
    ) as refused:
        load(spec)
    assert str(refused.value).startswith(f"{file}, line 3: ") and "found 3" in str(refused.value)
