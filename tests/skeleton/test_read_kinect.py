"""SBU and UTD-MHAD, from trees made here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from bandstop.errors import DataError
from bandstop.skeleton import load, load_sequence
from bandstop.skeleton.readers.sbu import FOLDS
from tests.skeleton.sample_trees import motion, sbu_tree, utd_tree


def test_sbu_is_read_back_to_its_units(tmp_path: Path) -> None:
    s = load(sbu_tree(tmp_path))
    stored = motion(4, 30).astype(np.float64)
    assert np.allclose(s[0][:, :, 0], 1280 - 2560 * stored[:, :, 0], rtol=1e-5)
    assert np.allclose(s[0][:, :, 1], 960 - 1920 * stored[:, :, 1], rtol=1e-5)
    assert np.allclose(s[0][:, :, 2], 10000 * stored[:, :, 2] / 7.8125, rtol=1e-5)
    assert (s.labels.tolist(), s.class_names[0], s.class_names[7]) == ([0, 7], "approaching", "exchanging")
    assert (s.fold.tolist(), s.split.tolist(), s.subjects.tolist()) == (
        [1, 2],
        ["", ""],
        ["s01s02", "s02s03"],
    )
    assert (len(s.edges), s.joint_names[s.root]) == (28, "first torso")
    assert np.array_equal(load_sequence(tmp_path / "s01s02/01/001/skeleton_pos.txt"), s[0])


def test_a_fold_of_sbu_is_its_test_set(tmp_path: Path) -> None:
    spec = sbu_tree(tmp_path / "with@sign")
    assert load(spec).split.tolist() == ["", ""]
    assert load(spec + "@2").split.tolist() == ["train", "test"]
    assert load(spec + "@1").split.tolist() == ["test", "train"]
    for wrong in ("0", "6", "x", ""):
        with pytest.raises(DataError, match="a fold must be 1 to 5"):
            load(f"{spec}@{wrong}")


def test_the_folds_share_no_pair() -> None:
    pairs = [pair for fold in FOLDS for pair in fold]
    assert len(pairs) == len(set(pairs)) == 21


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [("s01s02", "s01s06", "in none of the 5 official folds"), ("s01s02/01", "s01s02/09", "must be 01 to 08")],
)
def test_an_unknown_pair_or_class_of_sbu_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    spec = sbu_tree(tmp_path)
    (tmp_path / old).rename(tmp_path / new)
    with pytest.raises(DataError, match=message) as refused:
        load(spec)
    assert str(tmp_path / new) in str(refused.value)


def test_a_wrong_line_of_sbu_is_named(tmp_path: Path) -> None:
    spec = sbu_tree(tmp_path)
    file = tmp_path / "s02s03/08/001/skeleton_pos.txt"
    file.write_text(file.read_text() + "0004,1,2\n")
    with pytest.raises(DataError, match=r"skeleton_pos\.txt, line 5: expected 91 columns, found 3"):
        load(spec)


def test_utd_mhad_splits_odd_and_even_subjects(tmp_path: Path) -> None:
    s = load(utd_tree(tmp_path))
    assert s.sequence_ids.tolist() == ["a1_s1_t1", "a2_s3_t1", "a27_s2_t1"]
    assert (s.labels.tolist(), s.split.tolist()) == ([0, 1, 26], ["train", "train", "test"])
    assert (s.class_names[26], s.subjects.tolist(), s.joint_names[s.root]) == (
        "squat",
        ["1", "3", "2"],
        "spine",
    )
    assert np.array_equal(s[2], motion(5, 20, seed=27))
    utd_tree(tmp_path / "whole" / "Skeleton")
    assert len(load(f"utd-mhad:{tmp_path / 'whole'}")) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"other": np.zeros(3)}, "no variable d_skel"),
        ({"d_skel": np.zeros((20, 3))}, r"must be \[20, 3, frames\], found \(20, 3\)"),
        ({"d_skel": np.zeros((15, 3, 4))}, r"must be \[20, 3, frames\]"),
        ({"d_skel": np.zeros((20, 3, 0))}, r"must be \[20, 3, frames\]"),
        ({"d_skel": np.zeros((20, 3, 2), complex)}, "not an array of real numbers"),
        ({"d_skel": np.full((20, 3, 2), "a", object)}, "not an array of real numbers"),
        ({"d_skel": "text"}, "not an array of real numbers"),
    ],
)
def test_a_wrong_matlab_file_is_refused(tmp_path: Path, content: dict, message: str) -> None:
    file = tmp_path / "a1_s1_t1_skeleton.mat"
    savemat(file, content)
    with pytest.raises(DataError, match=message) as refused:
        load(f"utd-mhad:{tmp_path}")
    assert str(file) in str(refused.value)


def test_an_action_beyond_27_is_refused(tmp_path: Path) -> None:
    spec = utd_tree(tmp_path)
    (tmp_path / "a1_s1_t1_skeleton.mat").rename(tmp_path / "a28_s1_t1_skeleton.mat")
    with pytest.raises(DataError, match="action must be 1 to 27, found 28"):
        load(spec)
