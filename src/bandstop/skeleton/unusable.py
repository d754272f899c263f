"""Leaving out sequences that cannot be used, and saying so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.record.drop import dropped_text
from bandstop.skeleton.repair import lost_joints
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["LeftOut", "drop_unusable", "mentioning", "say_nothing", "usable"]

LeftOut = Callable[[Sequence[str]], None]
"""Told the names of recordings that were left out, right after that."""


def say_nothing(dropped: Sequence[str]) -> None:
    """For whom it does not matter what was left out."""


def drop_unusable(
    s: SequenceSet, never: NDArray[np.bool_] | None = None
) -> tuple[SequenceSet, tuple[str, ...]]:
    """``s`` without the sequences in which a joint is zero or not finite in every frame, and their ids.

    These are the sequences that :meth:`SequenceSet.repaired` refuses; ``never`` as there.

    >>> good, bad = np.ones((2, 3, 3)), np.ones((2, 3, 3))
    >>> bad[:, 1] = np.nan
    >>> s = SequenceSet.from_sequences([good, bad], labels=[0, 0], class_names=["rest"])
    >>> kept, dropped = drop_unusable(s)
    >>> len(kept), dropped
    (1, ('1',))
    """
    lost = lost_joints(s.joints, s.offsets, s.edges, never).any(axis=1)
    if not lost.any():
        return s, ()
    if lost.all():
        raise DataError(
            f"none of the {len(s):,} sequences can be used: each has a joint that is zero or not finite in"
            " every frame",
            path=s.name or None,
        )
    return s.subset(~lost), tuple(s.sequence_ids[lost].tolist())


def usable(
    s: SequenceSet, drop: str | None, never: NDArray[np.bool_] | None = None, *, say: LeftOut = say_nothing
) -> tuple[SequenceSet, tuple[str, ...]]:
    """As ``drop_unusable``, told to ``say``; where ``drop`` is None, ``s`` as it is.

    >>> usable(SequenceSet.from_sequences([np.ones((2, 3, 3))], labels=[0], class_names=["rest"]), None)[1]
    ()
    """
    if drop is None:
        return s, ()
    kept, dropped = drop_unusable(s, never)
    say(dropped)
    return kept, dropped


@contextmanager
def mentioning(dropped: Sequence[str]) -> Iterator[None]:
    """A refusal of what is left says what was left out: without it the data may look complete.

    >>> with mentioning(["a"]):
    ...     raise DataError("every class needs a training sequence")
    Traceback (most recent call last):
        ...
    bandstop.errors.DataError: every class needs a training sequence (left out 1 sequence that cannot be ...
    """
    try:
        yield
    except DataError as problem:
        if not dropped:
            raise
        raise DataError(f"{problem} ({dropped_text(dropped, most=3)})") from problem
