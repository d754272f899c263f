"""Continuous sessions of Jackknife as streams: in each request a gesture was made, at a time not recorded.

When a gesture began and ended is estimated: the liveliest part of its request. Training, temperature and
delay use that estimate; whether a gesture was found is judged by the request alone, as Jackknife's authors
do.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.live.stream import Gesture, LiveData, Stream
from bandstop.skeleton.readers.files import sorted_entries
from bandstop.skeleton.readers.jackknife import Session, layout_of, read_session

__all__ = ["liveliest", "session_stream", "sessions_live"]

UNTRACKED = "redrum"
"""Left out by Jackknife's authors: the sensor loses the hand in it."""
_SMOOTH, _GAP, _LEAST = 5, 12, 8
"""Frames over which speed is averaged, that a gesture may pause, and that it lasts at least."""


def liveliest(speed: NDArray[np.float64]) -> tuple[int, int]:
    """Begin and end of the part with most motion: above a quarter of the highest speeds, without long gaps.

    >>> still, lively = [0.0] * 30, [1.0] * 20
    >>> liveliest(np.array(still + lively + still))
    (29, 51)
    """
    smooth = np.convolve(speed, np.ones(_SMOOTH) / _SMOOTH, mode="same")
    active = np.flatnonzero(smooth > 0.25 * np.quantile(smooth, 0.95))
    if not len(active):
        return 0, len(speed)
    parts = np.split(active, np.flatnonzero(np.diff(active) > _GAP) + 1)
    best = max(parts, key=lambda part: float(smooth[part[0] : part[-1] + 1].sum()))
    begin, end = int(best[0]), int(best[-1]) + 1
    return (begin, end) if end - begin >= _LEAST else (0, len(speed))


def session_stream(session: Session, class_names: tuple[str, ...]) -> Stream:
    """A stream with estimated gestures, and the requests; failed and untracked ones have the label −1."""
    speed = np.linalg.norm(
        np.diff(session.frames.astype(np.float64), axis=0, prepend=session.frames[:1]), axis=2
    )
    gestures, requests = [], []
    for request in session.requests:
        named = not request.failed and request.gesture in class_names
        label = class_names.index(request.gesture) if named else -1
        requests.append(Gesture(request.begin, request.end, label))
        if named:
            begin, end = liveliest(speed[request.begin : request.end].sum(axis=1))
            gestures.append(Gesture(request.begin + begin, request.begin + end, label))
    return Stream(session.frames, tuple(gestures), session.user, 30.0, tuple(requests))


def sessions_live(path: Path) -> LiveData:
    """The sessions in ``path``, `leap_motion` or `kinect`: of eight users one validates and two test."""
    sessions = [read_session(file) for file in sorted_entries(path / "sessions", path) if file.is_file()]
    if len(sessions) < 4:
        raise DataError(f"at least four sessions are needed, found {len(sessions)}", path=path / "sessions")
    asked = {request.gesture for session in sessions for request in session.requests}
    layout, names = layout_of(asked, path), tuple(sorted(asked - {UNTRACKED}))
    streams = [session_stream(session, names) for session in sessions]
    parts: tuple[list[Stream], list[Stream], list[Stream]] = ([], [], [])
    for place, stream in enumerate(streams):
        parts[2 if place % 4 == 3 else 1 if place % 8 == 2 else 0].append(stream)
    train, validation, test = map(tuple, parts)
    edges = np.array(layout.edges, dtype=np.int64)
    return LiveData(train, validation, test, names, edges, layout.root, layout.joint_names)
