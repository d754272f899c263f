"""From streams to training sequences: windows labelled by the gesture that has just ended in them, or `none`.

A window that ends at t is of the class of gesture g if g ended a moment ago, ``soonest ≤ t − g.end ≤
latest``. It is `none` if no gesture ended within a wider margin: idle time, the middle of a gesture, a
gesture long past. What lies between is not used, because no answer would be wrong there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bandstop.errors import ConfigError, DataError
from bandstop.live.stream import NONE, Gesture, Stream
from bandstop.skeleton import SequenceSet

__all__ = ["UNUSED", "WindowPlan", "label_window", "training_windows"]

_LONGEST = 100_000
"""Frames of a window: an hour at 30 frames a second has about as many."""
UNUSED, NO_GESTURE = -2, -1
_MARGIN = 4
"""Frames around the time in which a gesture should be named that are not used."""
_HARD_SHARE = 0.6
"""Share of the `none` windows that end within or near a gesture, where they are mistaken most easily."""


@dataclass(frozen=True)
class WindowPlan:
    """Which windows a stream recogniser looks at."""

    length: int = 90
    """Frames of a window."""
    hop: int = 6
    """Frames from one look to the next."""
    soonest: int = 1
    """Frames after a gesture's end from which on it should be named."""
    latest: int = 12
    """Frames after a gesture's end up to which it should be named."""

    def __post_init__(self) -> None:
        if not 2 <= self.length <= _LONGEST or self.hop < 1 or not 0 <= self.soonest <= self.latest:
            raise ConfigError(
                f"a plan of windows needs a length of 2 to {_LONGEST:,}, hop ≥ 1 and 0 ≤ soonest ≤ latest, "
                f"found {self}"
            )

    @staticmethod
    def for_streams(
        streams: Sequence[Stream], *, chunks: int = 16, looks_per_second: float = 5.0
    ) -> WindowPlan:
        """A plan whose windows hold nine gestures of ten whole, and that names them within 0.4 s.

        Chunks of the window and hops begin at the same frames, so that a device sums every frame once.

        >>> stream = Stream(np.zeros((90, 1, 3), np.float32), (Gesture(10, 50, 0),), frames_per_second=30)
        >>> WindowPlan.for_streams([stream])
        WindowPlan(length=80, hop=5, soonest=1, latest=12)
        """
        durations = [g.frames for stream in streams for g in stream.gestures]
        if not durations:
            raise DataError("streams to learn from need at least one gesture, found none")
        rate = streams[0].frames_per_second
        latest = max(2, round(0.4 * rate))
        wanted = math.ceil(float(np.quantile(durations, 0.9)) * 1.2) + 2 * latest
        length, hop = _aligned(wanted, rate / looks_per_second, chunks)
        return WindowPlan(length, hop, 1, latest)

    def block(self, chunks: int) -> int:
        """Frames that always lie in one chunk together, whichever look it is; 0 if there are none.

        >>> WindowPlan(96, hop=6).block(32), WindowPlan(160, hop=5).block(16), WindowPlan(90).block(32)
        (3, 5, 0)
        """
        return 0 if self.length % chunks else math.gcd(self.length // chunks, self.hop)


def _aligned(length: float, hop: float, chunks: int) -> tuple[int, int]:
    """The length and hop nearest to those wanted (by their ratios) of which one holds the other's chunks.

    A window may be a tenth shorter than wanted, not more.

    >>> _aligned(103, 6, 16), _aligned(103, 6, 32), _aligned(170, 6, 16)
    ((96, 6), (96, 6), (192, 6))
    """

    def far(pair: tuple[int, int]) -> float:
        return 2 * abs(math.log(pair[0] * chunks / length)) + abs(math.log(pair[1] / hop))

    least, most = max(1, math.ceil(0.9 * length / chunks)), math.ceil(1.2 * length / chunks)
    pairs = [
        (frames, step)
        for frames in range(least, max(least, most) + 1)
        for step in range(1, max(most, math.ceil(hop)) + 1)
        if frames % step == 0 or step % frames == 0
    ]
    frames, step = min(pairs, key=far)
    return frames * chunks, step


def label_window(gestures: Sequence[Gesture], end: int, plan: WindowPlan) -> int:
    """Class of the window that ends at ``end``; −1 for none, −2 where it should not be used.

    >>> plan = WindowPlan(20, soonest=1, latest=9)
    >>> [label_window([Gesture(30, 45, 7)], end, plan) for end in (30, 44, 48, 60)]
    [-1, -2, 7, -1]
    """
    near = False
    for gesture in gestures:
        since = end - gesture.end
        if plan.soonest <= since <= plan.latest:
            return gesture.label
        near |= -_MARGIN <= since <= plan.latest + _MARGIN
    return UNUSED if near else NO_GESTURE


def _labels(stream: Stream, plan: WindowPlan) -> tuple[np.ndarray, np.ndarray]:
    """Label of the window that ends at each frame count 0 … T, and whether a gesture is near."""
    labels = np.full(len(stream) + 1, NO_GESTURE)
    near = np.zeros(len(stream) + 1, dtype=bool)
    for g in stream.gestures:
        labels[max(0, g.end - _MARGIN) : g.end + plan.latest + _MARGIN + 1] = UNUSED
        near[max(0, g.begin - plan.latest) : g.end + 3 * plan.latest] = True
    for g in stream.gestures:
        labels[g.end + plan.soonest : g.end + plan.latest + 1] = g.label
    for request in stream.requests:
        if request.label < 0:
            labels[request.begin + 1 : request.end + 1] = UNUSED
    return labels, near


def training_windows(
    streams: Sequence[Stream],
    class_names: Sequence[str],
    plan: WindowPlan,
    *,
    per_gesture: int = 5,
    none_share: float = 1.0,
    seed: int = 0,
) -> SequenceSet:
    """``per_gesture`` windows of each gesture, ``none_share`` times as many of `none` (the last class)."""
    rng = np.random.default_rng([seed, 43])
    chosen: list[tuple[int, int, int]] = []
    hard: list[tuple[int, int, int]] = []
    easy: list[tuple[int, int, int]] = []
    for number, stream in enumerate(streams):
        labels, near = _labels(stream, plan)
        labels[: plan.length] = UNUSED
        for g in stream.gestures:
            ends = np.arange(g.end + plan.soonest, min(g.end + plan.latest, len(stream)) + 1)
            ends = ends[labels[ends] == g.label]
            picked = rng.choice(ends, min(per_gesture, len(ends)), replace=False)
            chosen += [(number, int(end), g.label) for end in picked]
        for end in np.flatnonzero(labels == NO_GESTURE):
            (hard if near[end] else easy).append((number, int(end), len(class_names)))
    if not chosen:
        raise DataError(f"no gesture ends later than {plan.length} frames after the begin of its stream")
    wanted = len(chosen) * none_share
    for pool, share in ((hard, _HARD_SHARE), (easy, 1 - _HARD_SHARE)):
        count = min(len(pool), round(wanted * share))
        chosen += [pool[i] for i in rng.choice(len(pool), count, replace=False)] if count else []
    return SequenceSet.from_sequences(
        [streams[number].joints[end - plan.length : end] for number, end, _ in chosen],
        labels=[label for _, _, label in chosen],
        class_names=[*class_names, NONE],
        subjects=[streams[number].subject for number, _, _ in chosen],
        sequence_ids=[f"{number}@{end}" for number, end, _ in chosen],
    )
