"""Two coordinates and three are not mixed without a word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import SequenceSet, load, write_archive
from bandstop.skeleton.flat import flat_and_deep, refuse_mixture, refuse_other_axes
from tests.skeleton.sample_trees import motion


def of(*sequences: np.ndarray) -> SequenceSet:
    return SequenceSet.from_sequences(sequences, labels=[0] * len(sequences), class_names=["rest"])


def flat(frames: int, nodes: int) -> np.ndarray:
    return motion(frames, nodes) * np.array([1, 1, 0], np.float32)


def test_a_folder_with_both_is_refused_and_one_of_each_is_named(tmp_path: Path) -> None:
    for name, axes in (("a", 2), ("b", 3)):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "0.npy", motion(4, 5)[:, :, :axes])
    expected = (
        r"all recordings must have two coordinates or all three: a/0\.npy has two .*, b/0\.npy three; keep"
    )
    with pytest.raises(DataError, match=expected):
        load(str(tmp_path))
    write_archive(of(motion(4, 5), flat(4, 5)), tmp_path / "both.npz")
    with pytest.raises(DataError, match=r"1 has two coordinates \(its z is zero throughout\), 0 three"):
        load(str(tmp_path / "both.npz"))


def test_zeros_gaps_and_single_points_say_nothing() -> None:
    gaps = motion(4, 5)
    gaps[:] = np.nan
    refuse_mixture(of(motion(4, 5), np.zeros((4, 5, 3)), gaps))
    refuse_mixture(of(flat(4, 5), np.zeros((4, 5, 3)), gaps))
    refuse_mixture(of(motion(4, 1), flat(4, 1)))
    assert [len(found) for found in flat_and_deep(of(gaps).subset([]))] == [0, 0]


@pytest.mark.parametrize("axes", [2, 3])
def test_a_model_of_two_takes_no_three_and_the_reverse(axes: int) -> None:
    s = of(motion(4, 5)[:, :, :axes])
    refuse_other_axes(s, axes == 2)
    rule, found = ("three coordinates", "two") if axes == 2 else ("two coordinates", "three")
    with pytest.raises(DataError, match=rf"x: the model was trained on joints of {rule}, found {found}"):
        refuse_other_axes(s, axes == 3, "x")
