"""How well the gestures of streams were found, measured as in SHREC'22 (track on online gesture recognition).

An event finds a gesture if it has the same class, covers more than half of it, and is not longer than twice
the gesture (Emporio et al., *SHREC 2022 Track on Online Detection of Heterogeneous Gestures*, 2022). Each
gesture is found by one event at most; every other event is a false alarm, also one that names a real gesture
wrongly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from bandstop.live.event import Event
from bandstop.live.stream import Gesture, Stream

__all__ = ["StreamMeasures", "jaccard_index", "match_events", "match_requests", "measure_streams"]


@dataclass(frozen=True)
class StreamMeasures:
    """The figures of some streams."""

    gestures: int
    minutes: float
    detection_rate: float
    """Share of the gestures that were found."""
    false_alarms_per_minute: float
    """Events that found no gesture, in each minute of stream."""
    false_positive_ratio: float
    """The same events per gesture, as SHREC'22 counts them."""
    jaccard_index: float
    """Mean overlap of true and named frames, see :func:`jaccard_index`."""
    delay_frames: float
    """Median frames from a found gesture's end to when it was named (negative: before its end)."""
    delay_frames_90: float
    """The same, reached by nine gestures of ten."""

    def as_dict(self) -> dict[str, float]:
        """The figures by name, rounded for a file."""
        return {name: round(float(value), 4) for name, value in asdict(self).items()}


def match_events(gestures: Sequence[Gesture], events: Sequence[Event]) -> list[int]:
    """For each event the index of the gesture that it finds, or −1; the first event has it.

    >>> truth = [Gesture(0, 10, 3), Gesture(20, 30, 4)]
    >>> named = [Event(2, 11, 3, 0.9, 12), Event(3, 12, 3, 0.8, 13), Event(19, 31, 3, 0.9, 33)]
    >>> match_events(truth, named)
    [0, -1, -1]
    """
    free, found = set(range(len(gestures))), []
    for event in events:
        seen = event.gesture
        fits = [
            i
            for i in free
            if gestures[i].label == seen.label
            and 2 * gestures[i].overlap(seen) > gestures[i].frames
            and seen.frames <= 2 * gestures[i].frames
        ]
        best = max(fits, key=lambda i: gestures[i].overlap(seen), default=-1)
        free.discard(best)
        found.append(best)
    return found


def match_requests(requests: Sequence[Gesture], events: Sequence[Event]) -> list[int]:
    """For each event the index of the request in whose time its gesture was named, or −1.

    The first right answer to a request finds its gesture, as in Jackknife's evaluation.

    >>> asked = [Gesture(0, 50, 3), Gesture(50, 90, 4)]
    >>> match_requests(asked, [Event(2, 40, 3, 0.9, 45), Event(2, 41, 3, 0.8, 49), Event(40, 80, 3, 0.9, 82)])
    [0, -1, -1]
    """
    free, found = set(range(len(requests))), []
    for event in events:
        fits = [i for i in free if requests[i].label == event.label and requests[i].begin < event.at]
        best = next((i for i in fits if event.at <= requests[i].end), -1)
        free.discard(best)
        found.append(best)
    return found


def _judged(stream: Stream, events: Sequence[Event]) -> tuple[int, list[int]]:
    """False alarms, and the delays of the gestures that were found."""
    counted = [event for event in events if stream.judged(event.at)]
    truth = stream.gestures
    if stream.requests:
        asked = [request for request in stream.requests if request.label >= 0]
        which = match_requests(asked, counted)
    else:
        which = match_events(truth, counted)
    delays = [event.at - truth[i].end for event, i in zip(counted, which, strict=True) if i >= 0]
    return len(counted) - len(delays), delays


def jaccard_index(gestures: Sequence[Gesture], events: Sequence[Event], frames: int) -> float:
    """``mean over classes of |G ∩ E| / |G ∪ E|``, G the true frames, E the named ones; 1 if both are empty.

    >>> jaccard_index([Gesture(0, 10, 3)], [Event(5, 15, 3, 0.9, 15)], 20)
    0.3333333333333333
    """
    true, named = ({}, {})  # type: tuple[dict[int, np.ndarray], dict[int, np.ndarray]]
    for where, parts in ((true, gestures), (named, [event.gesture for event in events])):
        for part in parts:
            where.setdefault(part.label, np.zeros(frames, dtype=bool))[max(0, part.begin) : part.end] = True
    nothing = np.zeros(frames, dtype=bool)
    shares = []
    for label in {*true, *named}:
        one, other = true.get(label, nothing), named.get(label, nothing)
        shares.append(float((one & other).sum() / max(1, (one | other).sum())))
    return float(np.mean(shares)) if shares else 1.0


def measure_streams(streams: Sequence[Stream], events: Sequence[Sequence[Event]]) -> StreamMeasures:
    """All figures over ``streams`` and what was named in each."""
    delays: list[int] = []
    alarms = 0
    for stream, named in zip(streams, events, strict=True):
        wrong, late = _judged(stream, named)
        alarms += wrong
        delays += late
    total = sum(len(stream.gestures) for stream in streams)
    minutes = sum(stream.minutes for stream in streams)
    overlaps = [
        jaccard_index(stream.gestures, named, len(stream))
        for stream, named in zip(streams, events, strict=True)
    ]
    return StreamMeasures(
        gestures=total,
        minutes=minutes,
        detection_rate=len(delays) / max(1, total),
        false_alarms_per_minute=alarms / max(1e-9, minutes),
        false_positive_ratio=alarms / max(1, total),
        jaccard_index=float(np.mean(overlaps)) if overlaps else 1.0,
        delay_frames=float(np.median(delays)) if delays else float("nan"),
        delay_frames_90=float(np.quantile(delays, 0.9)) if delays else float("nan"),
    )
