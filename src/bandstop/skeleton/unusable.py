"""Leaving out sequences that cannot be used."""

from __future__ import annotations

from bandstop.errors import DataError
from bandstop.skeleton.repair import lost_joints
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["drop_unusable"]


def drop_unusable(s: SequenceSet) -> tuple[SequenceSet, tuple[str, ...]]:
    """``s`` without the sequences in which a joint is zero or not finite in every frame, and their ids.

    These are the sequences that :meth:`SequenceSet.repaired` refuses.

    >>> import numpy as np
    >>> good, bad = np.ones((2, 3, 3)), np.ones((2, 3, 3))
    >>> bad[:, 1] = np.nan
    >>> s = SequenceSet.from_sequences([good, bad], labels=[0, 0], class_names=["rest"])
    >>> kept, dropped = drop_unusable(s)
    >>> len(kept), dropped
    (1, ('1',))
    """
    lost = lost_joints(s.joints, s.offsets, s.edges).any(axis=1)
    if not lost.any():
        return s, ()
    if lost.all():
        raise DataError(
            f"none of the {len(s):,} sequences can be used: each has a joint that is zero or not finite in"
            " every frame",
            path=s.name or None,
        )
    return s.subset(~lost), tuple(s.sequence_ids[lost].tolist())
