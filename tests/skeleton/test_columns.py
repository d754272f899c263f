"""A header decides what the columns of a table are; without one they are known, told or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import Reading, load, load_file, load_sequence
from bandstop.skeleton.layouts import COCO_17, MEDIAPIPE_HAND
from bandstop.skeleton.readers.columns import columns_by_count, columns_by_header, columns_by_pattern
from tests.skeleton.sample_trees import motion, write

HAND_21 = motion(5, 21)


def table(header: list[str] | None, rows: np.ndarray) -> str:
    lines = [",".join(map(repr, row.tolist())) for row in rows]
    return "\n".join(([",".join(header)] if header else []) + lines) + "\n"


def interleaved(axes: str) -> list[str]:
    return [f"{axis}{i}" for i in range(21) for axis in axes]


def test_other_columns_before_the_coordinates_are_left_out(tmp_path: Path) -> None:
    rows = [
        ",".join([str(i), f"{i / 30:.3f}", "Right", *map(repr, frame.ravel().tolist())])
        for i, frame in enumerate(HAND_21)
    ]
    text = "\n".join([",".join(["frame", "time", "hand", *interleaved("xyz")]), *rows])
    assert np.allclose(load_sequence(write(tmp_path / "a.csv", text)), HAND_21)


def test_coordinates_in_the_plane(tmp_path: Path) -> None:
    flat = HAND_21[:, :, :2].reshape(5, 42)
    found = load_sequence(write(tmp_path / "a.csv", table(interleaved("xy"), flat)))
    assert found.shape == (5, 21, 3)
    assert np.allclose(found[:, :, :2], HAND_21[:, :, :2])
    assert (found[:, :, 2] == 0).all()


def test_all_x_before_all_y_before_all_z(tmp_path: Path) -> None:
    header = [f"{axis}{i}" for axis in "xyz" for i in range(21)]
    grouped = HAND_21.transpose(0, 2, 1).reshape(5, 63)
    assert np.allclose(load_sequence(write(tmp_path / "a.csv", table(header, grouped))), HAND_21)


@pytest.mark.parametrize("style", ["{}_x", "x_{}", "{}.X", "landmark_{}_x", "hand {} (x)"])
def test_joints_by_name_in_any_order(tmp_path: Path, style: str) -> None:
    theirs = [name.upper().replace(" ", "_") for name in MEDIAPIPE_HAND.other_names]
    order = np.random.default_rng(0).permutation(21)
    titles = {axis: style.replace("x", axis).replace("X", axis.upper()) for axis in "xyz"}
    header = [titles[axis].format(theirs[i]) for i in order for axis in "xyz"]
    s = load_file(write(tmp_path / "a.csv", table(header, HAND_21[:, order].reshape(5, 63))))
    assert sorted(s.joint_names) == sorted(MEDIAPIPE_HAND.joint_names)
    assert not s.guessed
    assert np.allclose(s.reordered(MEDIAPIPE_HAND.joint_names)[0], HAND_21)
    assert len(s.edges) == 20


def test_files_of_one_folder_are_brought_to_one_order(tmp_path: Path) -> None:
    forward = [f"{name.replace(' ', '_')}_{axis}" for name in COCO_17.joint_names for axis in "xy"]
    backward = [f"{name.replace(' ', '_')}_{axis}" for name in COCO_17.joint_names[::-1] for axis in "xy"]
    flat = motion(4, 17)[:, :, :2]
    write(tmp_path / "wave" / "a.csv", table(forward, flat.reshape(4, 34)))
    write(tmp_path / "wave" / "b.csv", table(backward, flat[:, ::-1].reshape(4, 34)))
    s = load(str(tmp_path))
    assert s.joint_names == COCO_17.joint_names
    assert np.array_equal(s[0], s[1])
    write(tmp_path / "wave" / "c.csv", table(None, flat.reshape(4, 34)))
    with pytest.raises(DataError, match=r"c\.csv, line 1: all files must name the same joints or none"):
        load(str(tmp_path))


def test_names_of_an_unknown_skeleton_are_kept(tmp_path: Path) -> None:
    s = load_file(write(tmp_path / "a.csv", "hub_x,hub_y,rim_x,rim_y\n1,2,3,4\n"))
    assert (s.joint_names, s.edges.tolist(), s.guessed) == (("hub", "rim"), [], False)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("a,b,c", "the header names no coordinates such as x0"),
        ("x0,y0,z0,x1,y1,score", "every joint needs x and y, or x, y and z: '1' has x and y"),
        ("x0,y0,x2,y2,a,b", "after joint 0 the header has joint 2"),
        ("x0,y0,X_0,y1,x1,b", "two columns for one coordinate, 'x0' and 'X_0'"),
        ("x0,x1,x2", "every joint needs x and y"),
    ],
)
def test_a_header_that_is_not_understood_is_refused(tmp_path: Path, header: str, message: str) -> None:
    row = ",".join("1" * len(header.split(",")))
    file = write(tmp_path / "a.csv", f"{header}\n{row}\n")
    with pytest.raises(DataError) as refused:
        load_sequence(file)
    assert str(refused.value).startswith(f"{file}, line 2: {message}")
    first = header.split(",")[0]
    assert f'lines such as "{first},wrist,x" (column, joint, axis), given as --columns FILE' in str(
        refused.value
    )


def test_columns_by_a_table_of_the_user(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "t,HandPosA,HandPosB,TipA,TipB\n0,1,2,3,4\n")
    lines = "column,joint,axis\nHandPosA,wrist,x\nHandPosB,wrist,y\nTipB,index tip,x\nTipA,index tip,y\n"
    mapped = write(tmp_path / "map.csv", lines)
    s = load_file(file, Reading(columns=str(mapped)))
    assert s.joint_names == ("wrist", "index tip")
    assert s[0].tolist() == [[[1, 2, 0], [4, 3, 0]]]
    with pytest.raises(DataError, match=r"map\.csv, line 2: expected lines such as"):
        load_file(file, Reading(columns=str(write(tmp_path / "map.csv", "HandPosA,wrist,x\nTipA,x\n"))))
    with pytest.raises(DataError, match="the header has no column 'Other'"):
        load_file(file, Reading(columns=str(write(tmp_path / "map.csv", "Other,wrist,x\n"))))
    with pytest.raises(DataError, match=r"nowhere\.csv: no such file"):
        load_file(file, Reading(columns=str(tmp_path / "nowhere.csv")))


@pytest.mark.parametrize(("count", "joints", "axes"), [(63, 21, 3), (42, 21, 2), (60, 20, 3), (50, 25, 2)])
def test_known_numbers_of_columns(count: int, joints: int, axes: int) -> None:
    found = columns_by_count(count)
    assert (found.joints, found.axes, found.index) == (joints, axes, tuple(range(count)))


@pytest.mark.parametrize("count", [1, 2, 6, 15, 64, 65, 67, 1000])
def test_other_numbers_of_columns_are_refused_with_what_to_say(tmp_path: Path, count: int) -> None:
    file = write(tmp_path / "a.csv", ",".join("1" * count) + "\n")
    with pytest.raises(DataError, match=f"{count} columns without a header fit no known skeleton") as refused:
        load_sequence(file)
    assert "--columns xyz, xy, 2:xyz" in str(refused.value)


def test_a_number_that_fits_two_ways_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", ",".join("1" * 66) + "\n")
    with pytest.raises(
        DataError, match="66 columns without a header may be 22 joints of x, y, z or 33 of x, y;"
    ):
        load_sequence(file)
    assert load_sequence(file, Reading(columns="xy")).shape == (1, 33, 3)


@pytest.mark.parametrize(
    ("pattern", "row", "expected"),
    [
        ("xyz", "1,2,3,4,5,6", [[1, 2, 3], [4, 5, 6]]),
        ("xy", "1,2,3,4", [[1, 2, 0], [3, 4, 0]]),
        ("yx", "1,2,3,4", [[2, 1, 0], [4, 3, 0]]),
        ("xyz-", "1,2,3,0.9,4,5,6,0.8", [[1, 2, 3], [4, 5, 6]]),
        ("2:xyz", "7,Right,1,2,3", [[1, 2, 3]]),
        ("1:x..y..z..", "7,1,4,2,5,3,6", [[1, 2, 3], [4, 5, 6]]),
        ("x..y..", "1,3,2,4", [[1, 2, 0], [3, 4, 0]]),
    ],
)
def test_columns_as_the_user_says(tmp_path: Path, pattern: str, row: str, expected: list) -> None:
    file = write(tmp_path / "a.csv", f"{row}\n")
    assert load_sequence(file, Reading(columns=pattern)).tolist() == [expected]


@pytest.mark.parametrize("pattern", ["", "x", "xx", "xz", "xyzz", "--", "a:xy", "xyz;", "x..z..", "..."])
def test_a_wrong_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="columns must be a pattern such as --columns xyz"):
        columns_by_pattern(pattern, 6)


@pytest.mark.parametrize(("pattern", "count"), [("xyz", 4), ("1:xy", 4), ("x..y..", 5), ("9:xy", 4)])
def test_a_pattern_that_does_not_divide_is_refused(pattern: str, count: int) -> None:
    with pytest.raises(ValueError, match="they do not divide by"):
        columns_by_pattern(pattern, count)


def test_a_header_of_numbers_says_nothing_and_is_skipped(tmp_path: Path) -> None:
    rows = HAND_21.reshape(5, 63)
    numbers = [str(i) for i in range(63)]
    assert np.allclose(load_sequence(write(tmp_path / "a.csv", table(numbers, rows))), HAND_21)
    counted = np.concatenate([np.arange(5)[:, None], rows], axis=1)
    found = load_sequence(write(tmp_path / "a.csv", table(["", *numbers], counted)))
    assert np.allclose(found, HAND_21)


def test_world_coordinates_and_speeds_are_not_taken_for_more_joints() -> None:
    header = [f"{kind}{axis}{i}" for kind in ("", "world_", "vel_") for i in range(3) for axis in "xyz"]
    assert columns_by_header(header).index == tuple(range(9))
    assert columns_by_header(header[9:18]).index == tuple(range(9))


def test_two_hands_stand_side_by_side() -> None:
    header = [f"{hand}_{axis}{i}" for i in range(2) for hand in ("left", "right") for axis in "xy"]
    assert columns_by_header(header).index == (0, 1, 4, 5, 2, 3, 6, 7)


def test_two_rows_of_a_frame_are_refused(tmp_path: Path) -> None:
    text = "frame,hand,x0,y0\n0,Left,1,2\n0,Right,3,4\n1,Left,1,2\n"
    file = write(tmp_path / "a.csv", text)
    with pytest.raises(DataError, match="line 3: frame 0 has two rows; write one file a hand"):
        load_sequence(file)


def test_the_bones_of_a_folder_vouch_for_its_columns(tmp_path: Path) -> None:
    write(tmp_path / "wave" / "a.csv", ",".join("123456789") + "\n")
    write(tmp_path / "edges.csv", "0,1\n1,2\n")
    assert load(str(tmp_path)).joints.shape == (1, 3, 3)
    write(tmp_path / "edges.csv", "0,1\n")
    with pytest.raises(
        DataError, match=r"9 columns without a header make 3 joints, but edges\.csv speaks of 2"
    ):
        load(str(tmp_path))
    assert load(str(tmp_path), Reading(columns="xyz")).joints.shape == (1, 3, 3)


def test_the_number_of_joints_of_a_model_vouches_for_a_file(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", ",".join("123456789") + "\n")
    assert load_file(file, joints=3).joints.shape == (1, 3, 3)
    with pytest.raises(DataError, match="9 columns without a header do not make 4 joints"):
        load_file(file, joints=4)


@pytest.mark.parametrize("form", ["hands", "fpha:{}", "{}/set.npz"])
def test_data_that_says_it_itself_takes_no_columns(tmp_path: Path, form: str) -> None:
    write(tmp_path / "set.npz", b"")
    with pytest.raises(DataError, match="--columns is for data that does not say it itself; leave it out"):
        load(form.format(tmp_path), Reading(columns="xyz"))
