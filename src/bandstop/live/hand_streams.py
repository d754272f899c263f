"""Streams of the embedded hands: gestures joined by idle motion and transitions; same seed, same bytes.

A person rests, and fidgets: now and then the hand wanders to a chance pose and back. Out of the rest it comes
to the first pose of a gesture, performs it, and sinks back. People, actions and the sensor are those of
:mod:`bandstop.skeleton.hands`; no cut-out is reused, so nothing jumps where one thing ends and the next
begins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import ConfigError
from bandstop.live.stream import Gesture, Stream
from bandstop.skeleton.hands import People, Performance, observe
from bandstop.skeleton.kinematics import clip_to_limits, euler_rotation, hand_joints
from bandstop.skeleton.motions import ACTIONS, CHANNELS, REST, Action, minimum_jerk, pose_vector

__all__ = ["HandStreams", "make_hand_streams"]

Floats = NDArray[np.float64]
FRAMES_PER_SECOND = 30.0
_WIDTH = len(CHANNELS)
_REST = pose_vector(REST)
# How far a channel strays: radians for angles (less sideways than in flexion), millimetres for positions.
_STRAY: Floats = np.array([0.5 if ".abduction" in c else 1.0 if "." in c else 60.0 for c in CHANNELS])


@dataclass(frozen=True)
class HandStreams:
    """Streams of three groups of people that share nobody."""

    train: tuple[Stream, ...]
    validation: tuple[Stream, ...]
    test: tuple[Stream, ...]

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the gestures' labels."""
        return tuple(action.name for action in ACTIONS)


@dataclass(frozen=True)
class _Habits:
    """One person on one occasion: what stays during a stream."""

    amplitude: Floats
    posture: Floats
    delay: Floats
    tempo: float
    sympathy: float


@dataclass(frozen=True)
class _Part:
    """A stretch of a stream: channels relative to the rest, and the gesture's first and last frame if any."""

    channels: Floats
    begin: int = 0
    end: int = 0
    label: int = -1


def _frames(seconds: float) -> int:
    return max(1, round(seconds * FRAMES_PER_SECOND))


def _phases(
    action: Action, progress: Floats, cycles: int, begin: float, habits: _Habits, skew: float
) -> Floats:
    """Phase of every channel: each joint a little late, each cycle a little skewed; a last pose is held."""
    phase = np.clip(progress[:, None] * cycles - habits.delay, 0.0, cycles) + begin
    phase = phase - np.maximum(np.ceil(phase) - 1.0, 0.0)
    return np.asarray(phase + skew * np.sin(2 * np.pi * phase), dtype=np.float64)


def _gesture(rng: np.random.Generator, label: int, habits: _Habits) -> _Part:
    """Out of rest, the action, and back to rest."""
    action = ACTIONS[label]
    cycles = int(rng.integers(action.cycles[0], action.cycles[1] + 1))
    seconds = cycles * action.seconds * rng.uniform(0.8, 1.25) / habits.tempo
    before, during, after = _frames(rng.uniform(0.3, 0.9)), _frames(seconds), _frames(rng.uniform(0.3, 0.9))
    clock = np.arange(before + during + after, dtype=np.float64)
    begin, skew = rng.uniform(*action.begin), rng.uniform(-0.5, 0.5) / (2 * np.pi)
    phases = _phases(action, (clock - before) / during, cycles, begin, habits, skew)
    engaged = minimum_jerk(clock / before) * minimum_jerk((len(clock) - 1 - clock) / after)
    amplitude = habits.amplitude * rng.uniform(0.78, 1.22, _WIDTH)
    channels = (action.targets(phases) - _REST) * amplitude * engaged[:, None]
    return _Part(channels, before, before + during, label)


def _idle(rng: np.random.Generator, seconds: float) -> _Part:
    """Rest, with wanderings to chance poses and back."""
    channels, at = np.zeros((_frames(seconds), _WIDTH)), 0
    while at < len(channels):
        at += _frames(rng.uniform(0.2, 2.5))
        going, staying, coming = (_frames(rng.uniform(*range_)) for range_ in ((0.3, 1), (0, 1), (0.3, 1)))
        clock = np.arange(going + staying + coming, dtype=np.float64)
        there = minimum_jerk(clock / going) * minimum_jerk((len(clock) - 1 - clock) / coming)
        towards = rng.normal(0.0, 0.35, _WIDTH) * _STRAY * rng.uniform(0.2, 1.0)
        if at + len(clock) <= len(channels):
            channels[at : at + len(clock)] += there[:, None] * towards
        at += len(clock)
    return _Part(channels)


def _restless(rng: np.random.Generator, frames: int) -> Floats:
    """Slow aimless movement [T, 26] of about one unit: sines with random frequency and phase."""
    clock = np.arange(frames)[:, None] / FRAMES_PER_SECOND
    movement = np.zeros((frames, _WIDTH))
    for lowest, highest, strength in ((0.03, 0.1, 0.4), (0.1, 0.5, 0.55), (0.5, 1.2, 0.35)):
        frequency, phase = rng.uniform(lowest, highest, _WIDTH), rng.uniform(0.0, 1.0, _WIDTH)
        movement += rng.normal(0.0, strength, _WIDTH) * np.sin(2 * np.pi * (frequency * clock + phase))
    return movement


def _follow_neighbours(channels: Floats, sympathy: float) -> Floats:
    """Each of the four fingers' flexion is drawn towards that of the fingers beside it."""
    mixed = channels.copy()
    flexion = mixed[:, 4:20].reshape(-1, 4, 4)[..., 1:]
    beside = (flexion[:, [1, 0, 1, 2]] + flexion[:, [1, 2, 3, 2]]) / 2
    flexion += sympathy * (beside - flexion)
    return mixed


def _stream(rng: np.random.Generator, people: People, who: int) -> Stream:
    """Every action once in chance order, idle parts between, and one long idle part."""
    posture = people.posture[who] + rng.normal(0.0, 0.09, _WIDTH) * _STRAY
    habits = _Habits(
        people.amplitude[who],
        posture,
        people.delay[who],
        float(people.tempo[who]),
        float(people.sympathy[who]),
    )
    parts = [_idle(rng, rng.uniform(1.0, 3.0))]
    long_idle = int(rng.integers(len(ACTIONS)))
    for place, label in enumerate(rng.permutation(len(ACTIONS))):
        parts.append(_gesture(rng, int(label), habits))
        parts.append(_idle(rng, rng.uniform(0.3, 3.0) + (20.0 if place == long_idle else 0.0)))
    starts = np.cumsum([0, *(len(part.channels) for part in parts)])
    channels = np.concatenate([part.channels for part in parts]) + _REST + habits.posture
    channels += _restless(rng, len(channels)) * people.restlessness[who] * _STRAY
    channels = _follow_neighbours(channels, habits.sympathy)
    angles = clip_to_limits(channels[:, :-3])
    hand = hand_joints(angles, people.palm[who], people.phalanges[who]) + channels[:, None, -3:]
    view = euler_rotation(*(people.view[who] + rng.normal(0.0, 0.2, 3)))
    place_of_hand = rng.normal([0.0, 0.0, 450.0], [60.0, 60.0, 50.0])
    seen_in_parts = Performance(
        starts, np.repeat(np.arange(len(parts)), np.diff(starts)), angles, hand @ view.T + place_of_hand
    )
    joints = observe(rng, seen_in_parts, np.full(len(parts), people.noise[who]))
    gestures = [
        Gesture(int(start) + part.begin, int(start) + part.end, part.label)
        for start, part in zip(starts, parts, strict=False)
        if part.label >= 0
    ]
    return Stream(joints, tuple(gestures), f"person {who + 1:02d}", FRAMES_PER_SECOND)


def make_hand_streams(
    seed: int = 0, *, people: tuple[int, int, int] = (12, 4, 8), repetitions: tuple[int, int, int] = (5, 4, 4)
) -> HandStreams:
    """Streams of ``people`` (train, validation, test), each seen in ``repetitions`` streams of about 80 s.

    >>> tiny = make_hand_streams(1, people=(1, 1, 1), repetitions=(1, 1, 1))
    >>> len(tiny.train[0].gestures), tiny.train[0].joints.shape[1:], tiny.test[0].subject
    (16, (21, 3), 'person 03')
    """
    if seed < 0:
        raise ConfigError(f"the seed of the streams must be 0 or more, found {seed}")
    if min(*people, *repetitions) < 1:
        raise ConfigError(
            f"each group of streams needs a person and a stream, found {people} and {repetitions}"
        )
    rng = np.random.Generator(np.random.PCG64([seed, 41]))
    everyone = People.sample(rng, sum(people))
    groups, first = [], 0
    for count, times in zip(people, repetitions, strict=True):
        who = range(first, first + count)
        groups.append(tuple(_stream(rng, everyone, person) for person in who for _ in range(times)))
        first += count
    return HandStreams(*groups)
