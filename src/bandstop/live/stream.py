"""A stream: frames without cuts, and where in it each gesture lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NONE", "Gesture", "Stream"]

NONE = "none"
"""The name of the class for "none of the gestures"."""


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

    def __len__(self) -> int:
        return len(self.joints)

    @property
    def minutes(self) -> float:
        """Duration."""
        return len(self) / self.frames_per_second / 60.0
