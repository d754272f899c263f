"""Two coordinates or three: a recording in the plane z = 0 is not one of a body in space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["flat_and_deep", "refuse_mixture", "refuse_other_axes"]

_FLAT, _DEEP = "two coordinates (its z is zero throughout)", "three"


def flat_and_deep(s: SequenceSet) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which sequences have two coordinates, and which have three.

    Neither is one of zeros or gaps only; nor is a single point known to be flat, which may stay at a height
    of zero.

    >>> deep, flat = np.ones((2, 3, 3)), np.ones((2, 3, 2))
    >>> s = SequenceSet.from_sequences([deep], labels=[0], class_names=["rest"])
    >>> [found.tolist() for found in flat_and_deep(s)]
    [[False], [True]]
    >>> s = SequenceSet.from_sequences([flat], labels=[0], class_names=["rest"])
    >>> [found.tolist() for found in flat_and_deep(s)]
    [[True], [False]]
    """
    if not len(s):
        return np.zeros(0, bool), np.zeros(0, bool)
    told = np.isfinite(s.joints) & (s.joints != 0)
    used = np.logical_or.reduceat(told.any(axis=1), s.offsets[:-1], axis=0)
    deep = used[:, 2]
    return used.any(axis=1) & ~deep & (s.joints.shape[1] > 1), deep


def refuse_mixture(s: SequenceSet, where: object = None) -> None:
    """Refuse a set in which some sequences have two coordinates and others three."""
    flat, deep = flat_and_deep(s)
    if flat.any() and deep.any():
        found = f"{_first(s, flat)} has {_FLAT}, {_first(s, deep)} {_DEEP}"
        hint = "keep those of one kind"
        raise DataError(
            f"all recordings must have two coordinates or all three: {found}", path=where, hint=hint
        )


def refuse_other_axes(s: SequenceSet, flat_model: bool, where: object = None) -> None:
    """Refuse sequences of two coordinates for a model of three, and the reverse."""
    flat, deep = flat_and_deep(s)
    wrong = deep if flat_model else flat
    if wrong.any():
        rule = (
            f"the model was trained on joints of {'two coordinates' if flat_model else 'three coordinates'}"
        )
        found = _DEEP if flat_model else _FLAT
        which = "" if len(s) == 1 else f" in {_first(s, wrong)}"
        hint = "give it recordings of the kind that it was trained on"
        raise DataError(f"{rule}, found {found}{which}", path=where, hint=hint)


def _first(s: SequenceSet, marked: NDArray[np.bool_]) -> str:
    return str(s.sequence_ids[np.flatnonzero(marked)[0]])
