"""Joints in the order that a model was trained on, whatever order the data has them in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bandstop.errors import DataError
from bandstop.skeleton.guess import bone_length
from bandstop.skeleton.layout import Layout
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["match_joints"]

_CLEAR = 0.9
"""A guessed order is believed against the model's if its bones are shorter than this share of the other's."""


def match_joints(
    s: SequenceSet, names: Sequence[str], nodes: int, *, same: bool = False, where: object = None
) -> SequenceSet:
    """``s`` with its joints in the order of ``names``, those of a model of ``nodes`` joints.

    Joints are matched by name. A guessed order is taken over where the data leaves no doubt. Refused is data
    with other joints, and data whose order cannot be known, unless the user says that it is the ``same``.

    >>> from bandstop.skeleton.layouts import HAND, MEDIAPIPE_HAND
    >>> from bandstop.skeleton.hands import make_hands
    >>> hands = make_hands(train_people=1, test_people=1, repetitions=1)
    >>> match_joints(hands, MEDIAPIPE_HAND.joint_names, 21).joint_names[4]
    'thumb tip'
    """
    wanted, found = tuple(names), s.joint_names
    if s.joints.shape[1] != nodes:
        rule = f"the model was trained on {nodes} joints"
        raise DataError(f"{rule}, the data has {s.joints.shape[1]}", path=where)
    if same or found == wanted or (s.guessed and not wanted):
        return replace(s, joint_names=wanted)
    if not found or not wanted:
        silent, other = ("model", "data") if found else ("data", "model")
        raise DataError(
            f"the {silent} does not name its joints and the {other} does, so their order is not known",
            path=where,
            hint="if both have the same order, say so with --layout same",
        )
    if sorted(found) != sorted(wanted):
        raise DataError(
            f"the model's joints are {_some(wanted)}, the data's {_some(found)}",
            path=where,
            hint="evaluate on the kind of skeleton that the model was trained on",
        )
    ordered = s.reordered(wanted)
    if s.guessed and not _clearly_shorter(s, ordered):
        raise DataError(
            "the order of the joints is not clear from the data",
            path=where,
            hint="say it with --layout mediapipe-hand, hand or same (the model's)",
        )
    return ordered


def _clearly_shorter(s: SequenceSet, ordered: SequenceSet) -> bool:
    """Whether the guessed bones are much shorter than those of the same joints taken in the wanted order."""
    guessed = Layout("", s.joint_names, tuple((int(a), int(b)) for a, b in s.edges))
    other = Layout("", ordered.joint_names, tuple((int(a), int(b)) for a, b in ordered.edges))
    return bone_length(s.joints, guessed) < _CLEAR * bone_length(s.joints, other)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
