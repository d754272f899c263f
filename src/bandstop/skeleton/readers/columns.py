"""Which columns of a table hold which coordinate of which joint: by its header, or as the user says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from bandstop.skeleton.layouts import LAYOUTS

__all__ = [
    "ByCount",
    "Columns",
    "columns_by_count",
    "columns_by_header",
    "columns_by_map",
    "columns_by_pattern",
]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_AXES = ("x", "y", "z")
_NO_POSITION = frozenset(
    [
        "velocity",
        "vel",
        "speed",
        "acceleration",
        "acc",
        "angle",
        "rotation",
        "rot",
        "quaternion",
        "quat",
        "size",
        "width",
        "height",
    ]
)
_GENERIC = frozenset(
    [
        "landmark",
        "lm",
        "joint",
        "keypoint",
        "kp",
        "point",
        "hand",
        "pose",
        "body",
        "pos",
        "position",
        "coord",
        "coordinate",
        "world",
        "normalized",
        "norm",
    ]
)
_PATTERN = re.compile(r"(?:(\d{1,4}):)?([xyz-]{2,16})")
_GROUPED = re.compile(r"(?:(\d{1,4}):)?x\.\.y\.\.(z\.\.)?")
_HOW = "such as --columns xyz, xy, 2:xyz (two columns first), xyz- (each fourth left out) or x..y..z.."

Places = dict[tuple[str, ...], dict[str, int]]
"""Words of a joint's name → axis → column."""


@dataclass(frozen=True)
class Columns:
    """Column ``index[axes * v + a]`` of a row holds coordinate a of joint v, which may have a name."""

    index: tuple[int, ...]
    axes: int
    names: tuple[str, ...] = ()

    @property
    def joints(self) -> int:
        """How many joints."""
        return len(self.index) // self.axes


ByCount = Callable[[int], Columns]
"""From the number of columns of a table without a header to what they are."""


def columns_by_header(header: Sequence[str]) -> Columns:
    """Columns such as ``x0``, ``0_x``, ``landmark_0_x`` or ``wrist_x``, in any order; others are left out.

    Joints that are numbered come in order of their numbers, named ones in order of appearance.
    ``ValueError`` says what cannot be understood.

    >>> columns_by_header(["frame", "x0", "x1", "y0", "y1"]).index
    (1, 3, 2, 4)
    >>> columns_by_header(["Wrist X", "Wrist Y", "palm_x", "palm_y", "score"]).names
    ('wrist', 'palm')
    """
    found: Places = {}
    for column, title in enumerate(header):
        words = [word.lower() for word in _WORD.findall(title)]
        axes = [word for word in words if word in _AXES]
        if len(axes) != 1 or not _NO_POSITION.isdisjoint(words):
            continue
        joint = tuple(word for word in words if word not in _AXES)
        places = found.setdefault(joint, {})
        if axes[0] in places:
            twice = f"{header[places[axes[0]]]!a:.40} and {title!a:.40}"
            raise ValueError(f"two columns for one coordinate, {twice}")
        places[axes[0]] = column
    if not found:
        raise ValueError("the header names no coordinates such as x0, y0, z0 or wrist_x")
    if any("world" in joint for joint in found) and not all("world" in joint for joint in found):
        found = {joint: places for joint, places in found.items() if "world" not in joint}
    return _laid_out(*_ordered(found))


def columns_by_map(header: Sequence[str], lines: Mapping[str, tuple[str, str]]) -> Columns:
    """Columns by a user's own table of titles: title → joint and axis.

    >>> columns_by_map(["b", "t", "a"], {"a": ("wrist", "x"), "b": ("wrist", "y")}).index
    (2, 0)
    """
    places: Places = {}
    for title, (joint, axis) in lines.items():
        if title not in header:
            raise ValueError(f"the header has no column {title!a:.40}")
        places.setdefault((joint,), {})[axis] = header.index(title)
    return _laid_out(places, named=True)


def columns_by_pattern(pattern: str, count: int) -> Columns:
    """Columns as ``--columns`` says: a pattern that repeats after some leading columns, or all x first.

    >>> columns_by_pattern("1:xy-", 7).index
    (1, 2, 4, 5)
    >>> columns_by_pattern("x..y..", 4).index
    (0, 2, 1, 3)
    """
    grouped, repeated = _GROUPED.fullmatch(pattern), _PATTERN.fullmatch(pattern)
    lead = int((grouped or repeated or [""] * 2)[1] or 0)
    rest = count - lead
    if grouped:
        axes = 3 if grouped[2] else 2
        if rest < axes or rest % axes:
            raise ValueError(f"{rest} columns cannot be {pattern!a}: they do not divide by {axes}")
        joints = rest // axes
        return Columns(tuple(lead + joints * a + v for v in range(joints) for a in range(axes)), axes)
    unit = repeated[2] if repeated else ""
    axes = 3 if "z" in unit else 2
    if unit.count("x") != 1 or unit.count("y") != 1 or unit.count("z") > 1:
        raise ValueError(f"columns must be a pattern {_HOW} or a file, found {pattern!a:.40}")
    if rest < len(unit) or rest % len(unit):
        raise ValueError(f"{rest} columns cannot be {pattern!a}: they do not divide by {len(unit)}")
    within = [unit.index(axis) for axis in _AXES[:axes]]
    return Columns(tuple(start + w for start in range(lead, count, len(unit)) for w in within), axes)


def columns_by_count(count: int, joints: int | None = None) -> Columns:
    """Columns x0, y0, z0, x1, … of a table without a header, if their number is that of a known skeleton.

    ``joints``: how many there must be, where that is known. ``ValueError`` says what was found.

    >>> columns_by_count(63).joints, columns_by_count(42).axes, columns_by_count(15, joints=5).joints
    (21, 2, 5)
    """
    if joints is None:
        known = {(axes, axes * layout.nodes) for layout in LAYOUTS for axes in layout.axes}
        fitting = [axes for axes in (3, 2) if (axes, count) in known]
    else:
        fitting = [axes for axes in (3, 2) if count == axes * joints]
    if len(fitting) == 1:
        return columns_by_pattern("xyz" if fitting[0] == 3 else "xy", count)
    found = f"{count} columns without a header"
    if fitting:
        choice = f"{count // 3} joints of x, y, z or {count // 2} of x, y"
        raise ValueError(f"{found} may be {choice}; say which with --columns xyz or --columns xy")
    rule = "fit no known skeleton" if joints is None else f"do not make {joints} joints"
    raise ValueError(f"{found} {rule} (21 joints have 63 or 42); say what they are, {_HOW}")


def _ordered(found: Places) -> tuple[Places, bool]:
    """Joints in their order, and whether they have names: numbered ones are sorted, group by group."""
    seen = Counter(word for joint in found for word in set(joint))
    shared = {word for word, times in seen.items() if times == len(found) > 1 and not word.isdigit()}
    numbers = _without(shared, found)
    if not all(joint and joint[-1].isdigit() for joint in numbers):
        return _without(shared & _GENERIC, found), len(found) > 1
    groups = list(dict.fromkeys(joint[:-1] for joint in numbers))
    order = sorted(numbers, key=lambda joint: (groups.index(joint[:-1]), int(joint[-1])))
    for before, after in pairwise(order):
        if before[:-1] == after[:-1] and int(after[-1]) != int(before[-1]) + 1:
            raise ValueError(f"after joint {before[-1]} the header has joint {after[-1]}")
    return {joint: numbers[joint] for joint in order}, False


def _without(words: Set[str], found: Places) -> Places:
    shorter = {tuple(word for word in joint if word not in words): at for joint, at in found.items()}
    return shorter if len(shorter) == len(found) else found


def _laid_out(places: Places, named: bool) -> Columns:
    axes = _AXES[: max(len(joint) for joint in places.values())]
    for joint, found in places.items():
        if tuple(sorted(found)) != axes or len(axes) < 2:
            name = " ".join(joint) or "the only joint"
            has = " and ".join(sorted(found))
            raise ValueError(f"every joint needs x and y, or x, y and z: {name!a:.40} has {has}")
    index = tuple(found[axis] for found in places.values() for axis in axes)
    return Columns(index, len(axes), tuple(" ".join(joint) for joint in places) if named else ())
