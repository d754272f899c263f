"""What describe says is what is there."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from bandstop.skeleton import Duplicate, SequenceSet, describe
from bandstop.skeleton.layouts import COCO_17
from tests.skeleton.sample_trees import motion, small_set


def test_the_facts_of_a_small_set() -> None:
    d = describe(small_set())
    assert (d.sequences, d.frames, d.joints, d.edges, d.root) == (4, 16, 3, 2, "1 (y)")
    assert (d.classes, d.subjects) == ({"rest": 2, "wave": 2}, {"1": 2, "2": 2})
    assert (list(d.splits.items()), d.folds) == ([("train", 2), ("none", 1), ("test", 1)], {"1": 2, "2": 2})
    assert (d.lengths, d.duplicates, d.nonfinite_values, d.zero_frames) == ((4, 4.0, 4), (), 0, 0)
    assert json.loads(json.dumps(d.as_dict()))["classes"] == {"rest": 2, "wave": 2}
    assert d.lines()[-4:] == [
        "duplicates  none",
        "non-finite  none",
        "zero frames none",
        "unusable    none",
    ]


def test_classes_without_sequences_are_told() -> None:
    s = replace(small_set(), class_names=("rest", "wave", "never"))
    assert describe(s).classes["never"] == 0


def test_faults_are_counted_and_named() -> None:
    s = small_set()
    joints = s.joints.copy()
    joints[0, 0, 0], joints[1, 1] = np.nan, np.inf
    joints[8] = joints[15] = 0
    d = describe(replace(s, joints=joints))
    assert (d.nonfinite_values, d.nonfinite_sequences) == (4, ("a",))
    assert (d.zero_frames, d.zero_sequences) == (2, ("c", "d"))
    text = "\n".join(d.lines())
    assert "4 values in 1 sequences: a" in text
    assert "2 all-zero frames in 2 sequences: c, d" in text


def test_duplicates_are_exact_and_say_whether_they_cross_the_split() -> None:
    one, two, three = (motion(4, 3, seed=i) for i in range(3))
    nearly = one.copy()
    nearly[0, 0, 0] = np.nextafter(nearly[0, 0, 0], np.float32(np.inf))
    longer = np.concatenate([one, one])
    s = SequenceSet.from_sequences(
        [one, two, three, one, two, nearly, three, one, longer],
        labels=[0, 0, 0, 0, 0, 0, 1, 0, 0],
        class_names=["a", "b"],
        split=["train", "train", "train", "test", "train", "test", "train", "", "test"],
    )
    assert describe(s).duplicates == (
        Duplicate(("0", "3", "7"), across_splits=True, labels_differ=False),
        Duplicate(("1", "4"), across_splits=False, labels_differ=False),
        Duplicate(("2", "6"), across_splits=False, labels_differ=True),
    )
    text = "\n".join(describe(s).lines())
    assert "3 groups of equal sequences, 1 across train and test" in text
    assert "0 = 3 = 7 (across train and test)" in text
    assert "2 = 6 (labels differ)" in text


def test_lines_are_short_and_keep_counts_with_their_names() -> None:
    names = [f"a class with a long name {i}" for i in range(40)]
    s = SequenceSet.from_sequences(
        [motion(2, 2, seed=i) for i in range(40)], labels=range(40), class_names=names
    )
    lines = describe(s).lines(everything=True)
    assert max(map(len, lines)) <= 100
    assert all(any(f"{name} (1)" in line for line in lines) for name in names)


def test_of_many_classes_ten_are_shown_with_what_all_of_them_are() -> None:
    labels = np.repeat(np.arange(12), [1] * 11 + [3])
    s = SequenceSet.from_sequences(
        [motion(2, 2, seed=i) for i in range(14)],
        labels=labels,
        class_names=[f"c{i}" for i in range(12)],
        split=["train"] * 7 + ["test"] * 7,
        fold=range(14),
    )
    shown = (describe(s).lines(everything=everything) for everything in (False, True))
    short, long = (" ".join(" ".join(lines).split()) for lines in shown)
    assert "c9 (1) and 2 more (--all shows them); 1 to 3 each" in short and "c10 (1)" not in short
    assert "folds 0 (1), 1 (1)" in short and "9 (1) and 4 more first frame" in short
    assert "c11 (3)" in long and "more" not in long


def test_sequences_that_cannot_be_used_are_named_with_the_joint() -> None:
    sequences = [motion(4, 3, seed=i) for i in range(14)]
    for broken in sequences[2:]:
        broken[:, 1] = 0
    s = SequenceSet.from_sequences(
        sequences, labels=[0] * 14, class_names=["a"], joint_names=["hip", "knee", "foot"]
    )
    d = describe(s)
    assert d.unusable["2"] == "knee" and len(d.unusable) == 12
    text = " ".join(" ".join(d.lines()[-4:]).split())
    assert "unusable 12 sequences never show some joint: 2 (knee), 3 (knee)" in text
    assert "and 2 more; --drop unusable leaves them out" in text
    assert "13 (knee)" in "\n".join(d.lines(everything=True))


def test_an_empty_subset_can_be_described() -> None:
    assert describe(small_set().subset(np.zeros(4, bool))).sequences == 0


def test_the_first_frame_is_shown_by_name() -> None:
    d = describe(small_set())
    assert d.first_frame["y"] == tuple(map(float, small_set().joints[0, 1]))
    text = "\n".join(d.lines())
    x, y, z = small_set().joints[0, 0]
    assert f"first frame x ({x:.4g}, {y:.4g}, {z:.4g}), y (" in text
    nameless = describe(replace(small_set(), joint_names=()))
    assert "first frame joint 0 (" in "\n".join(nameless.lines())
    assert "joints without names" in "\n".join(nameless.lines())


def test_the_layout_is_told_and_whether_it_is_a_guess() -> None:
    s = SequenceSet.from_sequences([motion(2, 17)], labels=[0], class_names=["a"])
    for guessed, expected in (
        (False, "17, root 0 (nose), 16 edges, layout coco"),
        (True, "layout coco (guessed)"),
    ):
        assert expected in "\n".join(describe(s.with_layout(COCO_17, guessed=guessed)).lines())


def test_at_most_ten_of_a_kind_unless_all_are_asked_for() -> None:
    pairs = [motion(2, 12, seed=i // 2) for i in range(94)] + [motion(2, 12, seed=99)] * 12
    broken = [np.full((2, 12, 3), np.nan) + i for i in range(12)]
    sequences = [*pairs, *broken]
    s = SequenceSet.from_sequences(
        sequences,
        labels=np.zeros(len(sequences), int),
        class_names=["a"],
        sequence_ids=[f"id{i}" for i in range(len(sequences))],
        subjects=[f"s{i}" for i in range(len(sequences))],
    )
    d = describe(s)
    short, long = d.lines(), d.lines(everything=True)
    assert sum(" = " in line for line in short) == 10
    assert "49 groups of equal sequences, 0 across train and test" in "\n".join(short)
    assert "and 39 more" in "\n".join(short)
    assert "and 2 more" in "\n".join(short)  # joints of the first frame, sequences with faults
    assert "more" not in "\n".join(long)
    assert all(any(f"s{i} (1)" in line for line in long) for i in range(len(sequences)))
