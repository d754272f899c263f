"""The container's promises, and its file."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bandstop.errors import DataError
from bandstop.skeleton import Reading, SequenceSet, load, read_archive, write_archive
from bandstop.skeleton import arrays as array_files
from bandstop.skeleton.layouts import COCO_17
from bandstop.skeleton.repair import fill_gaps
from tests.skeleton.sample_trees import motion, small_set

FIELDS = ("joints", "offsets", "labels", "subjects", "split", "edges", "sequence_ids", "fold")


def parts() -> dict:
    s = small_set()
    texts = {field: np.array(getattr(s, field)) for field in ("class_names", "joint_names")}
    return {field: getattr(s, field) for field in FIELDS} | texts


def saved(path: Path, **changes: object) -> Path:
    np.savez(path, **{key: value for key, value in (parts() | changes).items() if value is not None})
    return path


def test_written_and_read_back_is_the_same_set(tmp_path: Path) -> None:
    s = small_set()
    write_archive(s, tmp_path / "set.npz")
    again = read_archive(tmp_path / "set.npz")
    for field in FIELDS:
        assert np.array_equal(getattr(s, field), getattr(again, field)), field
        assert getattr(s, field).dtype.kind == getattr(again, field).dtype.kind
    assert (again.class_names, again.joint_names, again.name, again.root) == (
        s.class_names,
        s.joint_names,
        "small",
        1,
    )


def test_the_same_set_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        write_archive(small_set(), tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_the_extras_may_be_absent(tmp_path: Path) -> None:
    absent = {"sequence_ids": None, "fold": None, "joint_names": None}
    s = read_archive(saved(tmp_path / "plain.npz", **absent, subjects=np.array([7, 7, 8, 8])))
    assert (s.name, s.root, s.joint_names, s.fold) == ("plain", 0, (), None)
    assert s.sequence_ids.tolist() == ["0", "1", "2", "3"]
    assert s.subjects.tolist() == ["7", "7", "8", "8"]


def test_bones_that_are_not_told_are_those_of_a_known_layout_or_the_users(tmp_path: Path) -> None:
    s = read_archive(saved(tmp_path / "named.npz", edges=None))
    assert s.edges.shape == (0, 2) and s.joint_names == ("x", "y", "z")
    bones = tmp_path / "bones.csv"
    bones.write_text("x,y\ny,z\n")
    assert load(str(tmp_path / "named.npz"), Reading(edges=str(bones))).edges.tolist() == [[0, 1], [1, 2]]
    nameless = {"edges": None, "joint_names": None, "joints": motion(16, 17)}
    s = read_archive(saved(tmp_path / "body.npz", **nameless))
    assert s.guessed and s.layout == "coco" and len(s.edges) == len(COCO_17.edges)
    told = load(str(tmp_path / "body.npz"), Reading(layout="coco"))
    assert told.layout == "coco" and not told.guessed


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(DataError, match="taken: cannot be written"):
        write_archive(small_set(), tmp_path / "taken")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None}, "labels missing"),
        ({"labels": np.array([0, 1, 2, 0])}, "labels must lie between 0 and 1"),
        ({"labels": np.array([0, -1, 1, 0])}, "found -1"),
        ({"labels": np.array([0.0, 1.0, 1.0, 0.0])}, "whole numbers"),
        ({"labels": np.array([0, 1])}, "one value a sequence"),
        ({"offsets": np.array([0, 4, 4, 12, 16])}, "offsets must rise"),
        ({"offsets": np.array([0, 4, 8, 12, 17])}, "offsets must rise"),
        ({"offsets": np.array([], np.int64)}, "offsets must rise"),
        ({"split": np.array(["train", "test", "val", ""])}, "found 'val'"),
        ({"edges": np.array([[0, 3]])}, "joints 0 to 2"),
        ({"edges": np.array([0, 1])}, "pairs of joint indexes"),
        ({"joints": np.zeros((16, 3, 4))}, "joints must be numbers"),
        ({"joints": np.zeros((16, 0, 3))}, "joints must be numbers"),
        ({"joints": np.zeros((16, 3, 3), complex)}, "plain numbers"),
        ({"class_names": np.array(["rest", "rest"])}, "differ"),
        ({"root": np.array(3)}, "root must be"),
        ({"root": np.array([], np.int64)}, "set.npz"),
        ({"joint_names": np.array(["a"])}, "joint_names must name all 3"),
        ({"subjects": np.array([b"\xff"] * 4)}, "set.npz"),
        ({"joints": np.zeros((0, 3, 3)), "offsets": np.array([0])}, "set.npz"),
    ],
)
def test_a_wrong_archive_is_refused_with_its_name(tmp_path: Path, changes: dict, message: str) -> None:
    file = saved(tmp_path / "set.npz", **changes)
    with pytest.raises(DataError, match=message) as refused:
        read_archive(file)
    assert str(refused.value).startswith(str(file))


def test_an_empty_set_is_refused(tmp_path: Path) -> None:
    none = {field: getattr(small_set().subset(np.zeros(4, bool)), field) for field in FIELDS}
    with pytest.raises(DataError, match="holds no sequence"):
        read_archive(saved(tmp_path / "set.npz", **none))


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple:
            return (Path.touch, (tmp_path / "exploded",))

    file = tmp_path / "set.npz"
    np.savez(file, **(parts() | {"labels": np.array([Bomb()] * 4, dtype=object)}))
    with pytest.raises(DataError, match="not plain numbers or text"):
        read_archive(file)
    assert not (tmp_path / "exploded").exists()


def test_a_header_that_promises_terabytes_is_refused(tmp_path: Path) -> None:
    file, header = tmp_path / "set.npz", io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (10**12, 3, 3)}
    )
    saved(file, joints=None)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("joints.npy", header.getvalue())
    with pytest.raises(DataError, match="truncated: its header promises shape"):
        read_archive(file)


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "set.npz"
    np.savez_compressed(file, **(parts() | {"joints": np.zeros((100_000, 3, 3))}))
    monkeypatch.setattr(array_files, "MAX_ARRAY_BYTES", 1_000_000)
    with pytest.raises(DataError, match=r"unpacks to 7,20\d,\d{3} bytes, more than 1,000,000"):
        read_archive(file)


def test_names_cannot_carry_terminal_codes() -> None:
    s = SequenceSet.from_sequences([np.ones((1, 1, 3))], labels=[0], class_names=["\x1b[31mred\udc80"])
    assert s.class_names == ("\\x1b[31mred\\udc80",)


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), max_size=9), arrays(bool, 4))
def test_a_subset_holds_the_chosen_sequences(order: list[int], mask: np.ndarray) -> None:
    s = small_set()
    for which, chosen in ((order, order), (mask, np.flatnonzero(mask).tolist())):
        part = s.subset(which)
        assert len(part) == len(chosen)
        assert part.sequence_ids.tolist() == [s.sequence_ids[i] for i in chosen]
        for sequence, i in zip(part, chosen, strict=True):
            assert np.array_equal(sequence, s[i])


def test_indexing_counts_from_either_end() -> None:
    s = small_set()
    assert np.array_equal(s[-1], s[3])
    with pytest.raises(IndexError):
        s[4]


@settings(deadline=None)
@given(st.data())
def test_gaps_are_filled_as_by_interp(data: st.DataObject) -> None:
    frames, nodes = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 3))
    missing = data.draw(arrays(bool, (frames, nodes)))
    missing[data.draw(st.integers(0, frames - 1))] = False
    values = data.draw(arrays(np.float32, (frames, nodes, 3), elements=st.floats(-1000, 1000, width=32)))
    filled = fill_gaps(np.where(missing[:, :, None], np.nan, values), missing)
    time = np.arange(frames)
    for node in range(nodes):
        seen = ~missing[:, node]
        for axis in range(3):
            expected = np.interp(time, time[seen], values[seen, node, axis].astype(np.float64))
            assert np.allclose(filled[:, node, axis], expected, rtol=1e-5, atol=1e-4)


def test_repair_touches_only_what_is_broken() -> None:
    s = small_set()
    assert s.repaired() is s
    joints = s.joints.copy()
    joints[1, 2, 0] = np.nan
    joints[5] = 0
    joints[8] = np.inf
    mended = SequenceSet(**(parts() | {"joints": joints})).repaired()
    expected = s.joints.astype(np.float64)
    expected[1, 2] = (expected[0, 2] + expected[2, 2]) / 2
    expected[5] = (expected[4] + expected[6]) / 2
    expected[8] = expected[9]
    assert np.allclose(mended.joints, expected, rtol=1e-6)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_sequence_without_a_usable_frame_is_named(value: float) -> None:
    joints = small_set().joints.copy()
    joints[4:8] = value
    with pytest.raises(DataError, match="sequence b: joint 0 has no usable frame"):
        SequenceSet(**(parts() | {"joints": joints})).repaired()
