"""Jackknife's JK2017: gestures of a hand (Leap Motion) or a body (Kinect), cut out, and continuous sessions.

``training/Sub_USER/GESTURE/ex_N.txt``: the gesture's name, the number of frames, ``####``, then 21 lines
``x,y,z`` a frame with ``####`` between frames. These samples were resampled to equal steps along their path:
how fast the gesture was is lost.

``sessions/USER``: little-endian records of 272 bytes, one a frame: the number of the gesture that the
participant is asked for, the number of the request, three numbers about the screen, and 63 coordinates. A
request tells in which time a gesture was made, not when it began or ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.layout import Layout
from bandstop.skeleton.layouts import NTU_25
from bandstop.skeleton.readers.assemble import assemble
from bandstop.skeleton.readers.clip import as_sequence
from bandstop.skeleton.readers.files import read_bytes, read_text, sorted_entries
from bandstop.skeleton.readers.table import parse_table
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["GESTURES", "Request", "Session", "layout_of", "read_jackknife", "read_sample", "read_session"]

_BODY = (
    *("jab_right", "jab_left", "kick_right", "kick_left", "hook_right", "hook_left"),
    *("uppercut_right", "uppercut_left", "cartwheel_right", "cartwheel_left"),
    *("push", "sidekick_right", "sidekick_left", "duck"),
)
_HAND = (
    *("explode", "fist_2_circles", "index_2_circles", "knock_x3", "scissors", "sideways"),
    *("rock_out", "love", "redrum"),
)
GESTURES = _BODY + _HAND
"""A session counts them from one."""
_JOINTS, _SCREEN = 21, 5
_LEAP = Layout(
    "leap hand",
    (
        "palm",
        *(
            f"{finger} {joint}"
            for finger in ("thumb", "index", "middle", "ring", "little")
            for joint in ("base", "first", "second", "tip")
        ),
    ),
    (
        *((0, 1 + 4 * finger) for finger in range(5)),
        *((1 + 4 * finger + step, 2 + 4 * finger + step) for finger in range(5) for step in range(3)),
    ),
)
_KINECT = NTU_25.of(NTU_25.joint_names[:_JOINTS])


@dataclass(frozen=True)
class Request:
    """The participant is asked for ``gesture`` during the frames ``[begin, end)``."""

    begin: int
    end: int
    gesture: str
    failed: bool
    """It was asked for again right after: a mistake, or lost tracking."""


@dataclass(frozen=True, eq=False)
class Session:
    """Frames ``[T, 21, 3]`` of a continuous recording at 30 a second, and what was asked for when."""

    frames: NDArray[np.float32]
    requests: tuple[Request, ...]
    user: str


def layout_of(gestures: set[str], path: Path) -> Layout:
    """The joints of the sensor that ``gestures`` are made for."""
    for names, layout in ((_HAND, _LEAP), (_BODY, _KINECT)):
        if gestures and gestures <= set(names):
            return layout
    strange = ", ".join(sorted(gestures - set(GESTURES))) or "gestures of both sensors"
    raise DataError(
        f"expected the gestures of Leap Motion or of Kinect in training/Sub_USER/GESTURE, found {strange}",
        path=path,
        hint="name one of the folders leap_motion and kinect",
    )


def read_jackknife(path: Path) -> SequenceSet:
    """The training samples in ``path``, the folder `leap_motion` or `kinect`; users are its subjects."""
    folder = path / "training"
    files = [
        file
        for user in sorted_entries(folder, path)
        if user.is_dir() and user.name.startswith("Sub_")
        for gesture in sorted_entries(user, path)
        if gesture.is_dir()
        for file in sorted_entries(gesture, path)
        if file.name.startswith("ex") and file.suffix == ".txt"
    ]
    if not files:
        raise DataError("no sample training/Sub_USER/GESTURE/ex_N.txt", path=path)
    names = sorted({file.parent.name for file in files})
    layout = layout_of(set(names), path)
    return assemble(
        path,
        [read_sample(file) for file in files],
        files,
        layout=layout,
        labels=np.array([names.index(file.parent.name) for file in files]),
        class_names=names,
        subjects=[file.parent.parent.name.removeprefix("Sub_") for file in files],
        sequence_ids=[file.relative_to(folder).with_suffix("").as_posix() for file in files],
        name="jackknife",
    )


def read_sample(path: Path) -> NDArray[np.float32]:
    """The frames ``[T, 21, 3]`` of one sample."""
    lines = read_text(path).split("\n")
    if len(lines) < 4 or lines[2].strip() != "####" or not lines[1].strip().isdecimal():
        rule = "expected the gesture's name, the number of frames and #### in three lines"
        raise DataError(rule, path=path, line=min(3, len(lines)))
    if lines[0].strip() != path.parent.name:
        found = f"this sample says {lines[0].strip()[:30]!a}"
        raise DataError(f"{found}, its folder {path.parent.name}", path=path, line=1)
    # Lines of ####, made empty: the table passes over them and keeps the numbers of the others.
    bare = ["" if number < 3 or line.strip() == "####" else line for number, line in enumerate(lines)]
    table = parse_table("\n".join(bare), path, separator=",", columns=3)
    place = table.lines - 4  # from the first point on; 21 points and a mark a frame
    wrong = np.flatnonzero(place != np.arange(len(place)) + np.arange(len(place)) // _JOINTS)
    if len(wrong) or len(place) % _JOINTS:
        line = int(table.lines[wrong[0] if len(wrong) else -1])
        raise DataError(f"a frame must have {_JOINTS} points between lines of ####", path=path, line=line)
    frames = len(place) // _JOINTS
    if frames != int(lines[1]):
        raise DataError(f"the file says {int(lines[1])} frames and holds {frames}", path=path, line=2)
    return as_sequence(table.values.reshape(frames, _JOINTS, 3), path)


def read_session(path: Path) -> Session:
    """A continuous recording; frames that repeat the one before or hold a value that is not finite left out.

    The recorder ran at 60 frames a second and the sensors at about 30.
    """
    content, record = read_bytes(path), 4 * (_SCREEN + 3 * _JOINTS)
    if len(content) % record:
        raise DataError(f"a session has {record} bytes a frame, found {len(content)}", path=path)
    values = np.frombuffer(content, "<f4").reshape(-1, record // 4)
    asked = np.frombuffer(content, "<i4").reshape(-1, record // 4)[:, :2].astype(np.int64)
    joints = values[:, _SCREEN:]
    kept = np.isfinite(joints).all(axis=1)
    kept[1:] &= (joints[1:] != joints[:-1]).any(axis=1)
    if not kept.any():
        raise DataError("no frame of the session has all its joints", path=path)
    asked, joints = asked[kept], joints[kept]
    if asked[:, 0].min() < 1 or asked[:, 0].max() > len(GESTURES):
        raise DataError(f"gestures are numbered 1 to {len(GESTURES)}; this is no session", path=path)
    frames = as_sequence(joints.reshape(-1, _JOINTS, 3), path)
    return Session(frames, _requests(asked), path.name)


def _requests(asked: NDArray[np.int64]) -> tuple[Request, ...]:
    starts = np.flatnonzero(np.diff(asked[:, 1], prepend=asked[0, 1] - 1))
    ends = [*starts[1:].tolist(), len(asked)]
    names = [GESTURES[asked[start, 0] - 1] for start in starts]
    again = [*(one == after for one, after in pairwise(names)), False]
    return tuple(map(Request, starts.tolist(), ends, names, again))
