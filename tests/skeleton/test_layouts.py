"""Layouts are trees, and the two orders of a hand are told apart by the data."""

from __future__ import annotations

import numpy as np
import pytest

from bandstop.skeleton.guess import guess_layout
from bandstop.skeleton.layout import Layout
from bandstop.skeleton.layouts import (
    HAND,
    LAYOUTS,
    MEDIAPIPE_HAND,
    MEDIAPIPE_TO_HAND,
)


def components(layout: Layout) -> int:
    group = list(range(layout.nodes))
    for a, b in layout.edges:
        old, new = group[b], group[a]
        group = [new if member == old else member for member in group]
    return len(set(group))


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_each_person_is_a_tree_with_distinct_names(layout: Layout) -> None:
    persons = 2 if layout.name.endswith("pair") else 1
    assert components(layout) == persons
    assert len({frozenset(edge) for edge in layout.edges}) == len(layout.edges) == layout.nodes - persons
    assert len(set(layout.joint_names)) == layout.nodes
    assert 0 <= layout.root < layout.nodes


def test_the_permutation_keeps_every_landmark_and_every_bone() -> None:
    assert sorted(MEDIAPIPE_TO_HAND) == list(range(21))
    theirs = {(a, b) for a, b in MEDIAPIPE_HAND.edges}
    for finger in range(5):  # MediaPipe: four landmarks a finger, after the wrist
        first = 1 + 4 * finger
        assert {(0, first), (first, first + 1), (first + 1, first + 2), (first + 2, first + 3)} <= theirs
    assert MEDIAPIPE_HAND.joint_names[8] == "index tip"
    assert HAND.joint_names[11] == "index tip"


def flat_hand() -> np.ndarray:
    """A hand laid on a table, in our order: fingers fan out from the wrist."""
    hand = np.zeros((21, 3), np.float32)
    for finger in range(5):
        direction = np.array([np.sin(0.4 * (finger - 2)), np.cos(0.4 * (finger - 2)), 0])
        hand[1 + finger] = 8 * direction
        for step in range(3):
            hand[6 + 3 * finger + step] = (11 + 2.5 * step) * direction
    return hand


def test_the_order_of_a_hand_is_seen_in_its_bones() -> None:
    ours = np.repeat(flat_hand()[None], 5, axis=0)
    theirs = np.empty_like(ours)
    theirs[:, MEDIAPIPE_TO_HAND] = ours
    assert guess_layout(ours) is HAND
    assert guess_layout(theirs) is MEDIAPIPE_HAND
    ours[2] = np.nan  # a broken frame says nothing
    assert guess_layout(ours) is HAND
