"""Recordings for a finished run, as those that it was trained on: read, left out and repaired alike."""

from __future__ import annotations

from bandstop.record.reading import AS_IT_SAYS, SAME, Reading
from bandstop.skeleton import SequenceSet, load
from bandstop.skeleton.unusable import LeftOut, say_nothing, usable
from bandstop.training.model_file import Recogniser

__all__ = ["CONVERT", "recordings_for"]

CONVERT = "`bandstop convert DATA OUT.npz --drop unusable` writes the data without such sequences"
"""What to do in a verb that cannot leave any out itself."""


def recordings_for(
    run: Recogniser,
    data: str | None = None,
    *,
    reading: Reading = AS_IT_SAYS,
    drop: str | None = None,
    hint: str = CONVERT,
    say: LeftOut = say_nothing,
) -> tuple[SequenceSet, tuple[str, ...]]:
    """``data`` (the run's own by default) for ``run``, and what was left out of it.

    It is read as ``reading`` says, or else as that of training was; unusable recordings are left out if
    ``drop`` says so, or the run's config. That comes before any split, as in training. Joints are in the
    order of training, and gaps are filled; what cannot be repaired is refused with ``hint``.
    """
    where, remembered = data or run.config.data, reading == AS_IT_SAYS
    reading = run.config.reading if remembered else reading
    source = load(where, reading, remembered=remembered)
    source = run.in_its_order(source, same=reading.layout == SAME, where=where)
    source, dropped = usable(source, drop or run.config.drop, run.never_seen, say=say)
    return run.repaired(source, hint=hint), dropped
