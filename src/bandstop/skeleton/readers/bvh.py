"""Motion capture as BVH: a tree of joints with offsets, and a line of angles (and root positions) a frame.

Joint positions come from forward kinematics: with R_j the rotation of joint j in the world, o_j its offset,

    p_j = p_parent + R_parent · (o_j + t_j),    R_j = R_parent · R(channels of j in their order)

where t_j are position channels, if the joint has any. End sites are joints too, named after their parent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.layout import Layout
from bandstop.skeleton.readers.clip import Clip, as_sequence
from bandstop.skeleton.readers.files import read_text
from bandstop.skeleton.readers.table import parse_table

__all__ = ["read_bvh"]

_MOST_JOINTS = 1000
_CHANNELS = {f"{axis}{kind}": (kind, i) for kind in ("position", "rotation") for i, axis in enumerate("XYZ")}

Floats = NDArray[np.float64]


@dataclass
class _Joint:
    name: str
    parent: int
    offset: tuple[float, ...] = (0.0, 0.0, 0.0)
    channels: tuple[str, ...] = field(default=())


def read_bvh(path: Path) -> Clip:
    """The joint positions [T, V, 3] of a BVH file, with the names and bones that it declares."""
    text = read_text(path)
    head, mark, rest = text.partition("MOTION")
    if not mark or not head.lstrip().startswith("HIERARCHY"):
        raise DataError("a BVH file has a HIERARCHY and then a MOTION", path=path, line=1)
    joints = _hierarchy(head, path)
    first = head.count("\n")
    lines = rest.split("\n")
    start = next((i for i, line in enumerate(lines) if line.strip().lower().startswith("frame time")), None)
    if start is None:
        raise DataError("MOTION must say Frames and Frame Time", path=path, line=first + 1)
    wide = sum(len(joint.channels) for joint in joints)
    body = "\n" * (first + start + 1) + "\n".join(lines[start + 1 :])
    table = parse_table(body, path, separator=None, columns=wide)
    frames = as_sequence(_positions(joints, table.values), path)
    edges = tuple((joint.parent, i) for i, joint in enumerate(joints) if joint.parent >= 0)
    return Clip(frames, Layout("", tuple(joint.name for joint in joints), edges, 0))


def _hierarchy(text: str, path: Path) -> list[_Joint]:
    joints: list[_Joint] = []
    open_joints: list[int] = []
    for line, words in _lines(text):
        key = words[0].upper()
        try:
            if key in ("ROOT", "JOINT", "END"):
                joints.append(_named(words, joints, open_joints))
            elif key == "{":
                open_joints.append(len(joints) - 1)
            elif key == "}":
                open_joints.pop()
            elif key == "OFFSET" and len(words) == 4:
                joints[open_joints[-1]].offset = tuple(map(float, words[1:]))
            elif key == "CHANNELS":
                joints[open_joints[-1]].channels = _channels(words)
            elif key != "HIERARCHY":
                raise ValueError
        except (ValueError, IndexError):
            found = " ".join(words)[:40]
            raise DataError(f"not a line of a BVH hierarchy: {found!a}", path=path, line=line) from None
    if not joints or open_joints:
        raise DataError("the hierarchy has no joint or is not closed", path=path, line=1)
    if len({joint.name for joint in joints}) != len(joints):
        raise DataError("two joints have the same name", path=path, line=1)
    return joints


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for line, content in enumerate(text.split("\n"), start=1):
        if words := content.split():
            yield line, words


def _named(words: list[str], joints: list[_Joint], open_joints: list[int]) -> _Joint:
    if len(joints) >= _MOST_JOINTS or (words[0].upper() == "ROOT") != (not joints):
        raise ValueError
    parent = open_joints[-1] if joints else -1
    if words[0].upper() == "END":
        return _Joint(f"{joints[parent].name} end", parent)
    return _Joint(" ".join(words[1:]), parent)


def _channels(words: list[str]) -> tuple[str, ...]:
    names = tuple(words[2:])
    if int(words[1]) != len(names) or not set(names) <= set(_CHANNELS):
        raise ValueError
    return names


def _positions(joints: list[_Joint], values: Floats) -> Floats:
    frames = len(values)
    places = np.empty((frames, len(joints), 3))
    turns = np.empty((frames, len(joints), 3, 3))
    column = 0
    for i, joint in enumerate(joints):
        own = np.broadcast_to(np.eye(3), (frames, 3, 3))
        shift = np.tile(np.array(joint.offset), (frames, 1))
        for channel in joint.channels:
            kind, axis = _CHANNELS[channel]
            if kind == "position":
                shift[:, axis] += values[:, column]
            else:
                own = own @ _rotation(axis, np.deg2rad(values[:, column]))
            column += 1
        if joint.parent < 0:
            places[:, i], turns[:, i] = shift, own
        else:
            above = turns[:, joint.parent]
            places[:, i] = places[:, joint.parent] + np.einsum("tij,tj->ti", above, shift)
            turns[:, i] = above @ own
    return places


def _rotation(axis: int, angle: Floats) -> Floats:
    """Rotation matrices [T, 3, 3] about one axis."""
    with np.errstate(invalid="ignore"):
        sine, cosine = np.sin(angle), np.cos(angle)
    turn = np.zeros((len(angle), 3, 3))
    one, other = (axis + 1) % 3, (axis + 2) % 3
    turn[:, axis, axis] = 1
    turn[:, one, one] = turn[:, other, other] = cosine
    turn[:, one, other], turn[:, other, one] = -sine, sine
    return turn
