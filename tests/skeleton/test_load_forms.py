"""The one door: every form of a data name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.record.data_forms import KINDS
from bandstop.skeleton import FORMS, load, load_sequence, loading, write_archive
from bandstop.skeleton.in_space import in_space, raw_frames
from tests.skeleton.sample_trees import TREES, small_set, write


@pytest.mark.parametrize("kind", TREES)
def test_every_form_is_read_and_survives_an_archive(kind: str, tmp_path: Path) -> None:
    s = load(TREES[kind](tmp_path / "data"))
    write_archive(s, tmp_path / "again.npz")
    again = load(str(tmp_path / "again.npz"))
    assert np.array_equal(s.joints, again.joints)
    assert (again.name, again.class_names, again.root) == (s.name, s.class_names, s.root)
    assert again.sequence_ids.tolist() == s.sequence_ids.tolist()


@pytest.mark.parametrize("spec", ["", "nowhere", "fph:x", "hands:", "C:\\data", "a\0b", "~nobody-here/x"])
def test_an_unknown_form_lists_the_known_ones(spec: str) -> None:
    with pytest.raises(DataError) as refused:
        load(spec)
    assert FORMS in str(refused.value)


def test_a_file_that_is_no_archive_lists_the_forms(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"notes\.txt: neither a folder nor an archive \.npz; expected hands"):
        load(str(write(tmp_path / "notes.txt", "hello")))


@pytest.mark.parametrize("kind", ["fpha", "sbu", "utd-mhad", "pyskl", "mediapipe"])
def test_a_form_without_its_path(kind: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"a path must follow {kind}:"):
        load(f"{kind}:")
    with pytest.raises(DataError, match="nowhere: no such"):
        load(f"{kind}:{tmp_path / 'nowhere'}")


@pytest.mark.parametrize("seed", ["x", "-1", "1.5", "1" * 10, "٣"])
def test_a_wrong_seed_of_the_embedded_hands(seed: str) -> None:
    with pytest.raises(DataError, match="a seed must be a whole number"):
        load(f"hands:{seed}")


def test_the_embedded_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(loading, "make_hands", lambda seed: made.append(seed) or small_set())
    load("hands")
    load("hands:7")
    assert made == [0, 7]


def test_one_sequence_of_an_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.doc: expected a \.npy"):
        load_sequence(write(tmp_path / "a.doc", "x"))


def test_arrays_of_two_axes_lie_in_the_plane_of_what_was_trained_on() -> None:
    flat = np.ones((4, 3, 2))
    assert raw_frames(flat, 3, "a").tolist() == in_space(flat).tolist()
    assert in_space(flat)[..., 2].any() == np.False_
    with pytest.raises(DataError, match=r"a must have shape \[frames, 3, 3\].* found \[0, 3, 3\]"):
        raw_frames(np.ones((0, 3, 3)), 3, "a")


def test_help_knows_the_formats_that_there_are_readers_for() -> None:
    assert {*loading._READERS, *loading._TOLD} == set(KINDS)
