"""A stream: frames without cuts, and where in it each gesture lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstop.record.rejection import NONE

__all__ = ["NONE", "Gesture", "LiveData", "Stream"]


@dataclass(frozen=True, order=True)
class Gesture:
    """Class ``label`` during the frames ``[begin, end)``.

    >>> Gesture(10, 40, 2).frames
    30
    """

    begin: int
    end: int
    label: int

    @property
    def frames(self) -> int:
        """How long it lasts."""
        return self.end - self.begin

    def overlap(self, other: Gesture) -> int:
        """Frames that both cover.

        >>> Gesture(0, 10, 0).overlap(Gesture(6, 30, 1))
        4
        """
        return max(0, min(self.end, other.end) - max(self.begin, other.begin))


@dataclass(frozen=True, eq=False)
class Stream:
    """Joints ``[T, V, 3]`` and the gestures in it, in order of time; ``subject`` says who is seen."""

    joints: NDArray[np.float32]
    gestures: tuple[Gesture, ...]
    subject: str = ""
    frames_per_second: float = 30.0
    requests: tuple[Gesture, ...] = ()
    """Where the gestures' begin and end are estimates: the time in which each was asked for; the label −1
    where no answer would be wrong."""

    def __len__(self) -> int:
        return len(self.joints)

    @property
    def minutes(self) -> float:
        """Duration, without the time in which no answer would be wrong."""
        unjudged = sum(request.frames for request in self.requests if request.label < 0)
        return (len(self) - unjudged) / self.frames_per_second / 60.0

    def judged(self, at: int) -> bool:
        """Whether an answer at frame count ``at`` can be wrong.

        >>> Stream(np.zeros((9, 1, 3), np.float32), (), requests=(Gesture(0, 5, -1),)).judged(5)
        False
        """
        return not any(request.label < 0 and request.begin < at <= request.end for request in self.requests)


@dataclass(frozen=True, eq=False)
class LiveData:
    """Streams that share no sequence (and, where the data say so, no subject), and the skeleton they show."""

    train: tuple[Stream, ...]
    validation: tuple[Stream, ...]
    test: tuple[Stream, ...]
    """Empty where the data hold no part for it."""
    class_names: tuple[str, ...]
    edges: NDArray[np.int64]
    root: int
    joint_names: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    """Recordings that were left out because they cannot be used."""
