"""The embedded data: hand actions by people who differ, seen by a sensor that errs; same seed, same bytes.

People differ in bone lengths, tempo, amplitude, resting posture, how far neighbouring fingers follow each
other and how late each joint moves. A performance adds its own timing, an idle start and end, small aimless
movements and a point of view. The sensor adds noise and misplaces a finger now and then. Training and test
people are disjoint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import ConfigError
from bandstop.skeleton.kinematics import (
    FINGER_JOINTS,
    PALM_LENGTHS,
    PHALANX_LENGTHS,
    clip_to_limits,
    euler_rotation,
    hand_joints,
)
from bandstop.skeleton.layouts import HAND
from bandstop.skeleton.motions import ACTIONS, CHANNELS, REST, minimum_jerk, pose_vector
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["People", "Performance", "make_hands", "observe", "perform"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FRAMES_PER_SECOND = 30.0
_SHORTEST, _LONGEST = 20, 120
_WIDTH = len(CHANNELS)
# How far a channel strays: radians for angles (less sideways than in flexion), millimetres for positions.
_STRAY: Floats = np.array([0.5 if ".abduction" in c else 1.0 if "." in c else 60.0 for c in CHANNELS])


@dataclass(frozen=True)
class People:
    """P people, one row each: bone lengths in millimetres, habits, and what their sensor is like."""

    palm: Floats
    phalanges: Floats
    tempo: Floats
    amplitude: Floats
    posture: Floats
    delay: Floats
    sympathy: Floats
    restlessness: Floats
    view: Floats
    noise: Floats

    @staticmethod
    def sample(rng: np.random.Generator, count: int) -> People:
        """Draw `count` people.

        >>> People.sample(np.random.Generator(np.random.PCG64(0)), 3).phalanges.shape
        (3, 5, 3)
        """
        size = np.clip(rng.normal(1.0, 0.07, (count, 1)), 0.85, 1.15)
        return People(
            palm=PALM_LENGTHS * size * rng.uniform(0.93, 1.07, (count, 5)),
            phalanges=PHALANX_LENGTHS * size[..., None] * rng.uniform(0.92, 1.08, (count, 5, 3)),
            tempo=rng.uniform(0.75, 1.3, count),
            amplitude=rng.uniform(0.55, 1.1, (count, 1)) * rng.uniform(0.85, 1.15, (count, _WIDTH)),
            posture=rng.normal(0.0, 0.17, (count, _WIDTH)) * _STRAY,
            delay=rng.uniform(0.0, 0.09, (count, _WIDTH)),
            sympathy=rng.uniform(0.05, 0.5, count),
            restlessness=rng.uniform(0.045, 0.135, count),
            view=rng.normal(0.0, 0.28, (count, 3)),
            noise=rng.uniform(1.0, 3.0, count),
        )


@dataclass(frozen=True)
class Performance:
    """N sequences before any sensor; frame f belongs to sequence `sequence[f]`."""

    offsets: Integers
    sequence: Integers
    angles: Floats
    joints: Floats


@dataclass(frozen=True)
class _Timing:
    """Per sequence its cycles; per frame the clock, the share of the action done, how engaged the hand is."""

    offsets: Integers
    sequence: Integers
    cycles: Floats
    clock: Floats
    progress: Floats
    engaged: Floats


def _timing(rng: np.random.Generator, labels: Integers, tempo: Floats) -> _Timing:
    """Idle start, action, idle end; the hand comes out of rest, and sinks back by half or less."""
    fewest, most = np.array([action.cycles for action in ACTIONS])[labels].T
    cycles = rng.integers(fewest, most + 1).astype(np.float64)
    usual = np.array([action.seconds for action in ACTIONS])[labels]
    seconds = cycles * usual * rng.uniform(0.8, 1.25, len(labels)) / tempo
    before, after = rng.uniform(0.05, 0.8, (2, len(labels)))
    rested, returns = rng.uniform([[0.3], [0.0]], [[1.0], [0.5]], (2, len(labels)))
    total = before + seconds + after
    lengths = np.clip(np.rint(total * _FRAMES_PER_SECOND), _SHORTEST, _LONGEST).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    at = np.repeat(np.arange(len(labels)), lengths)
    clock = (np.arange(offsets[-1]) - offsets[at]) / lengths[at] * total[at]
    coming = 1.0 - rested[at] * (1.0 - minimum_jerk(clock / before[at]))
    leaving = 1.0 - returns[at] * (1.0 - minimum_jerk((total[at] - clock) / after[at]))
    return _Timing(offsets, at, cycles, clock, (clock - before[at]) / seconds[at], coming * leaving)


def _targets(rng: np.random.Generator, labels: Integers, delay: Floats, when: _Timing) -> Floats:
    """Where the action wants every channel [F, 26]: each joint a little late, each cycle a little skewed."""
    begin = rng.uniform(*np.array([action.begin for action in ACTIONS])[labels].T)
    skew = rng.uniform(-0.5, 0.5, len(labels)) / (2 * np.pi)
    targets = np.empty((len(when.clock), _WIDTH))
    for label, action in enumerate(ACTIONS):
        frames = np.flatnonzero(labels[when.sequence] == label)
        at = when.sequence[frames]
        cycles = when.cycles[at][:, None]
        phase = np.clip(when.progress[frames][:, None] * cycles - delay[at], 0.0, cycles) + begin[at][:, None]
        # The end of a cycle is phase 1, not 0, so that a last pose is held.
        phase -= np.maximum(np.ceil(phase) - 1.0, 0.0)
        targets[frames] = action.targets(phase + skew[at][:, None] * np.sin(2 * np.pi * phase))
    return targets


def _idle(rng: np.random.Generator, when: _Timing) -> Floats:
    """Slow aimless movement [F, 26] of about one unit: two sines with random frequency and phase."""
    shape, clock = (len(when.cycles), _WIDTH), when.clock[:, None]
    movement = np.zeros((len(clock), _WIDTH))
    for lowest, highest, strength in ((0.1, 0.5, 0.55), (0.5, 1.2, 0.35)):
        frequency = rng.uniform(lowest, highest, shape)[when.sequence]
        phase = rng.uniform(0.0, 1.0, shape)[when.sequence]
        size = rng.normal(0.0, strength, shape)[when.sequence]
        movement += size * np.sin(2 * np.pi * (frequency * clock + phase))
    return movement


def _follow_neighbours(channels: Floats, sympathy: Floats) -> Floats:
    """Channels in which each of the four fingers' flexion is drawn towards that of the fingers beside it."""
    mixed = channels.copy()
    flexion = mixed[:, 4:20].reshape(-1, 4, 4)[..., 1:]
    beside = (flexion[:, [1, 0, 1, 2]] + flexion[:, [1, 2, 3, 2]]) / 2
    flexion += sympathy[:, None, None] * (beside - flexion)
    return mixed


def perform(rng: np.random.Generator, people: People, person: Integers, labels: Integers) -> Performance:
    """N performances, all at once: person `person[i]` does action `labels[i]`."""
    when = _timing(rng, labels, people.tempo[person])
    at, who = when.sequence, person[when.sequence]
    rest, each = pose_vector(REST), (len(labels), _WIDTH)
    amplitude = people.amplitude[person] * rng.uniform(0.78, 1.22, each)
    posture = people.posture[person] + rng.normal(0.0, 0.09, each) * _STRAY
    channels = _targets(rng, labels, people.delay[person], when) - rest
    channels *= when.engaged[:, None] * amplitude[at]
    channels += (rest + posture)[at] + _idle(rng, when) * people.restlessness[who][:, None] * _STRAY
    channels = _follow_neighbours(channels, people.sympathy[who])

    angles = clip_to_limits(channels[:, :-3])
    hands = hand_joints(angles, people.palm[who], people.phalanges[who]) + channels[:, None, -3:]
    view = euler_rotation(*(people.view[person] + rng.normal(0.0, 0.2, (len(labels), 3))).T)
    place = rng.normal([0.0, 0.0, 450.0], [60.0, 60.0, 50.0], (len(labels), 3))
    return Performance(when.offsets, at, angles, hands @ view[at].swapaxes(-1, -2) + place[at][:, None])


def observe(rng: np.random.Generator, made: Performance, noise: Floats) -> NDArray[np.float32]:
    """What a sensor sees [F, 21, 3]: noise of `noise[i]` mm in sequence i, and fingers misplaced at times.

    Values are rounded to 1/64 mm, so that the last bits of a machine's sine do not reach the file.
    """
    at, count = made.sequence, len(noise)
    seen = made.joints + noise[at][:, None, None] * rng.normal(0.0, 1.0, made.joints.shape)
    share = (np.arange(len(at)) - made.offsets[at]) / np.diff(made.offsets)[at]
    along_finger = np.array([0.2, 0.6, 0.9, 1.0])[:, None]
    for _ in range(2):
        finger = rng.integers(0, 5, count)
        centre, reach = rng.uniform(0.0, 1.0, count), rng.uniform(0.0, 0.25, count)
        error = rng.normal(0.0, 11.0, (count, 3)) * noise[:, None]
        frames = np.flatnonzero(np.abs(share - centre[at]) < reach[at])
        lost = at[frames]
        seen[frames[:, None], FINGER_JOINTS[finger[lost]]] += error[lost][:, None] * along_finger
    return (np.rint(seen * 64.0) / 64.0).astype(np.float32)


def make_hands(
    seed: int = 0, *, train_people: int = 9, test_people: int = 7, repetitions: int = 5
) -> SequenceSet:
    """The embedded data set: every person does each of the sixteen actions `repetitions` times.

    >>> tiny = make_hands(seed=1, train_people=1, test_people=1, repetitions=1)
    >>> len(tiny), len(tiny.class_names), tiny[0].shape[1:], tiny.split[:1].tolist()
    (32, 16, (21, 3), ['train'])
    """
    if seed < 0:
        raise ConfigError(f"the seed of the embedded hands must be 0 or more, found {seed}")
    if min(train_people, test_people, repetitions) < 1:
        raise ConfigError(
            "the embedded hands need at least one person on each side and one repetition, found "
            f"{train_people} training people, {test_people} test people and {repetitions} repetitions"
        )
    rng = np.random.Generator(np.random.PCG64(seed))
    people = People.sample(rng, train_people + test_people)
    everyone = np.indices((train_people + test_people, len(ACTIONS), repetitions)).reshape(3, -1)
    person, labels, repetition = everyone.astype(np.int64)
    made = perform(rng, people, person, labels)
    names = np.array([action.name for action in ACTIONS])
    subjects = np.array([f"person {p + 1:02d}" for p in range(train_people + test_people)])[person]
    take = [f"{s}/{c}/{r + 1}" for s, c, r in zip(subjects, names[labels], repetition, strict=True)]
    return SequenceSet(
        joints=observe(rng, made, people.noise[person]),
        offsets=made.offsets,
        labels=labels,
        subjects=subjects,
        split=np.where(person < train_people, "train", "test"),
        class_names=tuple(names.tolist()),
        sequence_ids=np.array(take),
        name="hands",
        edges=np.zeros((0, 2), np.int64),
    ).with_layout(HAND)
