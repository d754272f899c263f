"""Sequences that cannot be used are refused with the flag that leaves them out, and left out by it."""

from __future__ import annotations

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import SequenceSet, drop_unusable
from bandstop.skeleton.layouts import SBU_PAIR
from tests.skeleton.sample_trees import motion


def three(changed: np.ndarray, **fields: object) -> SequenceSet:
    """The changed sequence between two good ones."""
    nodes = changed.shape[1]
    return SequenceSet.from_sequences(
        [motion(4, nodes, seed=1), changed, motion(4, nodes, seed=2)],
        labels=[0, 1, 1],
        class_names=["rest", "wave"],
        sequence_ids=list("abc"),
        **fields,
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_a_joint_never_seen_is_refused_and_can_be_dropped(value: float) -> None:
    broken = motion(4, 5)
    broken[:, 3] = value
    s = three(broken)
    with pytest.raises(
        DataError, match=r"sequence b: joint 3 has no usable frame .*; --drop unusable leaves"
    ):
        s.repaired()
    kept, dropped = drop_unusable(s)
    assert (kept.sequence_ids.tolist(), kept.labels.tolist(), dropped) == (["a", "c"], [0, 1], ("b",))
    assert kept.repaired() is kept


def test_a_joint_lost_in_different_ways_is_lost() -> None:
    broken = motion(4, 5)
    broken[0, 3], broken[1], broken[2:, 3] = np.nan, 0, 0
    assert drop_unusable(three(broken))[1] == ("b",)


def test_the_refusal_counts_the_others() -> None:
    broken = np.full((2, 3, 3), np.nan)
    fields = {"labels": [0] * 4, "class_names": ["rest"]}
    s = SequenceSet.from_sequences([broken, motion(2, 3), broken, broken], **fields)
    with pytest.raises(DataError, match=r"sequence 0: joint 0 has no usable frame .*, and 2 more sequences"):
        s.repaired()


def test_a_joint_seen_once_is_repaired() -> None:
    broken = motion(4, 5)
    broken[1:, 3] = np.nan
    s = three(broken)
    assert drop_unusable(s) == (s, ())
    assert np.array_equal(s.repaired()[1][3, 3], broken[0, 3])


def test_a_joint_that_is_always_the_origin_is_no_loss() -> None:
    centred = [motion(4, 5, seed=i) for i in range(2)]
    for sequence in centred:
        sequence[:, 0] = 0
    s = SequenceSet.from_sequences(centred, labels=[0, 0], class_names=["rest"])
    assert drop_unusable(s) == (s, ())
    assert s.repaired() is s


def test_what_is_always_the_origin_can_be_known_beforehand() -> None:
    absent = motion(4, 5)
    absent[:, 3] = 0
    s = SequenceSet.from_sequences([absent], labels=[0], class_names=["rest"])
    assert s.repaired() is s  # nothing is known of other sequences
    assert s.repaired(np.arange(5) == 3) is s
    with pytest.raises(DataError, match=r"joint 3 has no usable frame .*; leave this file out"):
        s.repaired(np.zeros(5, bool), hint="leave this file out")
    both = three(absent)
    assert drop_unusable(both, np.zeros(5, bool))[1] == ("b",)
    assert drop_unusable(both, np.arange(5) == 3) == (both, ())


def test_an_absent_second_person_is_no_loss() -> None:
    alone = motion(4, 30)
    alone[:, 15:] = 0
    s = three(alone, edges=SBU_PAIR.edges)
    assert drop_unusable(s) == (s, ())
    alone[:, 3] = 0
    assert drop_unusable(three(alone, edges=SBU_PAIR.edges))[1] == ("b",)


def test_a_single_point_and_a_single_frame_may_lie_at_the_origin() -> None:
    still = three(np.zeros((4, 1, 3), np.float32))
    assert still.repaired() is still
    one = motion(1, 5)
    one[0, 3] = 0
    s = three(one)
    assert s.repaired() is s


def test_when_nothing_is_left_it_is_refused() -> None:
    s = SequenceSet.from_sequences(
        [np.full((2, 3, 3), np.nan)], labels=[0], class_names=["rest"], name="mine"
    )
    with pytest.raises(DataError, match="mine: none of the 1 sequences can be used"):
        drop_unusable(s)
