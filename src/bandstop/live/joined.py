"""Streams joined from cut-out sequences: transitions and idle motion between them; same seed, same bytes.

Between two gestures the hand goes over to an idle pose and out of it again, each joint along the minimum-jerk
course. Idle motion is taken from idle recordings where there are some; otherwise it is a slow aimless
movement about the pose in which the sequences begin and end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.live.stream import NONE, Gesture, Stream
from bandstop.skeleton import SequenceSet
from bandstop.skeleton.motions import minimum_jerk

__all__ = ["gestures_and_idle", "join_sequences"]

Floats = NDArray[np.float64]


def gestures_and_idle(sequences: SequenceSet) -> tuple[SequenceSet, list[NDArray[np.float32]]]:
    """Split off the sequences of the class `none`, if there is one: they are idle recordings.

    >>> still = np.zeros((4, 2, 3), np.float32)
    >>> both = SequenceSet.from_sequences([still, still], labels=[0, 1], class_names=["none", "wave"])
    >>> gestures, idle = gestures_and_idle(both)
    >>> gestures.class_names, gestures.labels.tolist(), len(idle)
    (('wave',), [0], 1)
    """
    if NONE not in sequences.class_names:
        return sequences, []
    none = sequences.class_names.index(NONE)
    idle = [np.asarray(s) for s, label in zip(sequences, sequences.labels, strict=True) if label == none]
    kept = sequences.subset(sequences.labels != none)
    if not len(kept):
        raise DataError(f"there is no gesture beside the class {NONE!r}")
    names = tuple(name for name in sequences.class_names if name != NONE)
    labels = np.where(kept.labels > none, kept.labels - 1, kept.labels)
    return replace(kept, labels=labels, class_names=names), idle


@dataclass(frozen=True)
class _Idle:
    """What is seen when nothing happens, in a stream of ``rate`` frames a second."""

    rng: np.random.Generator
    recordings: Sequence[NDArray[np.float32]]
    poses: Floats
    size: float
    rate: float

    def frames(self, seconds: float, root: int) -> Floats:
        """Idle motion [T, V, 3] about the origin of the root."""
        count = max(2, round(seconds * self.rate))
        if len(self.recordings):
            found = self.recordings[int(self.rng.integers(len(self.recordings)))].astype(np.float64)
            start = int(self.rng.integers(max(1, len(found) - count + 1)))
            part = found[start : start + count]
            part = np.concatenate([part, part[::-1]] * (count // len(part) + 1))[:count]
            return np.asarray(part - part[:1, root : root + 1], dtype=np.float64)
        pose = self.poses[int(self.rng.integers(len(self.poses)))]
        clock = np.arange(count)[:, None, None] / self.rate
        motion = np.zeros((count, *pose.shape))
        for lowest, highest, strength in ((0.05, 0.3, 0.08), (0.3, 1.0, 0.04)):
            frequency = self.rng.uniform(lowest, highest, pose.shape)
            phase = self.rng.uniform(0.0, 1.0, pose.shape)
            motion += self.rng.normal(0.0, strength, pose.shape) * np.sin(
                2 * np.pi * (frequency * clock + phase)
            )
        used = self.poses.any(axis=(0, 1))  # what has two coordinates keeps to its plane
        return np.asarray(pose + motion * self.size * used, dtype=np.float64)


def _transition(begin: Floats, end: Floats, frames: int) -> Floats:
    """From one pose to another, both left out."""
    share = minimum_jerk(np.arange(1, frames + 1) / (frames + 1))[:, None, None]
    return np.asarray(begin + (end - begin) * share, dtype=np.float64)


def _append(parts: list[Floats], motion: Floats, frames: int) -> int:
    """Add ``motion`` after a transition of ``frames``; returns how many frames came before it."""
    if parts:
        parts.append(_transition(parts[-1][-1], motion[0], frames))
    before = sum(map(len, parts))
    parts.append(motion)
    return before


def join_sequences(
    sequences: SequenceSet,
    idle: Sequence[NDArray[np.float32]] = (),
    *,
    seed: int = 0,
    per_stream: int = 16,
    idle_seconds: tuple[float, float] = (0.5, 3.0),
    frames_per_second: float = 30.0,
) -> list[Stream]:
    """Streams of about ``per_stream`` gestures of one subject each, every sequence used once.

    >>> wave = np.arange(60, dtype=np.float32).reshape(10, 2, 3)
    >>> two = SequenceSet.from_sequences([wave, wave], labels=[0, 1], class_names=["a", "b"])
    >>> stream = join_sequences(two, seed=3)[0]
    >>> [g.frames for g in stream.gestures], len(stream) > 40
    ([10, 10], True)
    """
    if not len(sequences):
        raise DataError("a stream needs at least one sequence to join, found none")
    rng, root = np.random.default_rng([seed, 47]), sequences.root
    centred = [np.asarray(s, np.float64) - np.asarray(s, np.float64)[:1, root : root + 1] for s in sequences]
    poses = np.stack([pose - pose[root] for s in centred for pose in (s[0], s[-1])])
    size = float(np.sqrt(np.mean(np.square(poses).sum(-1))))
    still = _Idle(rng, idle, poses, size, frames_per_second)
    streams = []
    for subject in np.unique(sequences.subjects):
        order = rng.permutation(np.flatnonzero(sequences.subjects == subject))
        for start in range(0, len(order), per_stream):
            parts: list[Floats] = [still.frames(rng.uniform(3.0, 5.0), root)]
            gestures = []
            for index in order[start : start + per_stream]:
                begin = _append(parts, centred[index], _frames(rng, frames_per_second))
                gestures.append(Gesture(begin, begin + len(centred[index]), int(sequences.labels[index])))
                _append(
                    parts, still.frames(rng.uniform(*idle_seconds), root), _frames(rng, frames_per_second)
                )
            joints = np.concatenate(parts).astype(np.float32)
            streams.append(Stream(joints, tuple(gestures), str(subject), frames_per_second))
    return streams


def _frames(rng: np.random.Generator, rate: float) -> int:
    """How long a transition lasts: 0.2 to 0.6 s."""
    return max(1, round(float(rng.uniform(0.2, 0.6)) * rate))
