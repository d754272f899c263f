"""Data is brought to a model's joint order by name, or refused in one sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import Reading, SequenceSet, load, load_file, make_hands, match_joints, write_archive
from bandstop.skeleton.layouts import HAND, KINECT_20, MEDIAPIPE_HAND, MEDIAPIPE_TO_HAND
from tests.skeleton.sample_trees import motion


@pytest.fixture(scope="module")
def hands() -> SequenceSet:
    return make_hands(train_people=2, test_people=1, repetitions=1)


@pytest.fixture(scope="module")
def theirs(hands: SequenceSet) -> SequenceSet:
    """The same hands as MediaPipe would give them."""
    joints = np.empty_like(hands.joints)
    joints[:, MEDIAPIPE_TO_HAND] = hands.joints
    return replace(hands, joints=joints).with_layout(MEDIAPIPE_HAND)


def test_the_same_order_is_left_alone(hands: SequenceSet) -> None:
    assert np.shares_memory(match_joints(hands, HAND.joint_names, 21).joints, hands.joints)


def test_another_order_is_matched_by_name(hands: SequenceSet, theirs: SequenceSet) -> None:
    for data, model, expected in ((theirs, HAND, hands), (hands, MEDIAPIPE_HAND, theirs)):
        found = match_joints(data, model.joint_names, 21)
        assert np.array_equal(found.joints, expected.joints)
        assert (found.edges.tolist(), found.root) == ([list(edge) for edge in model.edges], model.root)
        assert found.joint_names == model.joint_names


def unnamed(s: SequenceSet, folder: Path) -> Path:
    """A plain folder of arrays."""
    for i in range(0, len(s), 5):
        place = folder / s.class_names[s.labels[i]]
        place.mkdir(parents=True, exist_ok=True)
        np.save(place / f"{i}.npy", s[i])
    return folder


def test_a_guessed_order_is_matched_where_the_bones_are_clear(
    hands: SequenceSet, theirs: SequenceSet, tmp_path: Path
) -> None:
    folder = unnamed(theirs, tmp_path / "theirs")
    s = load(str(folder))
    assert (s.layout, s.guessed) == ("mediapipe hand", True)
    assert np.array_equal(match_joints(s, HAND.joint_names, 21).joints, s.joints[:, MEDIAPIPE_TO_HAND])
    assert np.array_equal(match_joints(s, MEDIAPIPE_HAND.joint_names, 21).joints, s.joints)
    one = load_file(next(folder.rglob("*.npy")))
    assert match_joints(one, HAND.joint_names, 21).joint_names == HAND.joint_names


def test_a_doubtful_order_is_refused_until_it_is_said(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", motion(3, 21))
    one = load_file(tmp_path / "a.npy")
    other = HAND if one.layout == "mediapipe hand" else MEDIAPIPE_HAND
    with pytest.raises(
        DataError, match=r"a\.npy: the order of the joints is not clear.*say it with --layout"
    ):
        match_joints(one, other.joint_names, 21, where=tmp_path / "a.npy")
    said = load_file(tmp_path / "a.npy", Reading(layout=other.key))
    assert np.array_equal(match_joints(said, other.joint_names, 21).joints, one.joints)


def test_what_is_guessed_stays_a_guess_in_an_archive(theirs: SequenceSet, tmp_path: Path) -> None:
    s = load(str(unnamed(theirs, tmp_path / "theirs")))
    write_archive(s, tmp_path / "set.npz")
    again = load(str(tmp_path / "set.npz"))
    assert (again.layout, again.guessed, again.joint_names) == (s.layout, True, s.joint_names)


def test_other_joints_are_refused(hands: SequenceSet) -> None:
    kinect = SequenceSet.from_sequences([motion(3, 20)], labels=[0], class_names=["a"]).with_layout(KINECT_20)
    with pytest.raises(DataError, match="x: the model was trained on 21 joints, the data has 20"):
        match_joints(kinect, HAND.joint_names, 21, where="x")
    renamed = replace(hands, joint_names=tuple(f"j{i}" for i in range(21)))
    with pytest.raises(
        DataError, match="the model's joints are wrist, thumb mcp, index mcp, middle mcp, …, the"
    ):
        match_joints(renamed, HAND.joint_names, 21)


def test_names_on_one_side_only_are_refused(hands: SequenceSet) -> None:
    plain = replace(hands, joint_names=(), layout="")
    with pytest.raises(
        DataError, match=r"the data does not name its joints and the model does.*--layout same"
    ):
        match_joints(plain, HAND.joint_names, 21)
    with pytest.raises(
        DataError, match=r"the model does not name its joints and the data does.*--layout same"
    ):
        match_joints(hands, (), 21)
    assert match_joints(plain, (), 21).joints is plain.joints
    assert match_joints(replace(hands, guessed=True), (), 21).joints is hands.joints


def test_the_user_may_say_that_the_order_is_the_models(hands: SequenceSet, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", motion(3, 6))
    same = load_file(tmp_path / "a.npy", Reading(layout="same"))
    names = tuple("abcdef")
    assert match_joints(same, names, 6, same=True).joint_names == names
    assert match_joints(hands, (), 21, same=True).joints is hands.joints


def test_an_unknown_layout_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", motion(3, 21))
    with pytest.raises(DataError, match=r"a layout must be one of hand, mediapipe-hand, .* found 'foot'"):
        load_file(tmp_path / "a.npy", Reading(layout="foot"))
    with pytest.raises(DataError, match="coco has 17 joints, the data 21"):
        load_file(tmp_path / "a.npy", Reading(layout="coco"))
