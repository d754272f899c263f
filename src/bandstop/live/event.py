"""What a stream recogniser says: a gesture was seen, which, from when to when, how surely."""

from __future__ import annotations

from dataclasses import dataclass

from bandstop.live.stream import Gesture

__all__ = ["Event"]


@dataclass(frozen=True)
class Event:
    """A gesture of class ``label`` during the frames ``[begin, end)``, named when ``at`` frames had come."""

    begin: int
    end: int
    label: int
    confidence: float
    at: int

    @property
    def gesture(self) -> Gesture:
        """When and what, without the confidence.

        >>> Event(3, 9, 1, 0.8, 10).gesture
        Gesture(begin=3, end=9, label=1)
        """
        return Gesture(self.begin, self.end, self.label)
