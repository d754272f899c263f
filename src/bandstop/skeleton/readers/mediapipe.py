"""MediaPipe hand landmarks in folders of classes, permuted to our joint order (FPHA's).

JSON: a list of frames (or an object that holds it under ``frames``); JSON Lines: a frame a line. A frame is
21 points, each ``{"x", "y", "z"}`` or ``[x, y, z]``, or an object that holds them under ``landmarks``,
``hand_landmarks`` or one of the other names that MediaPipe's versions use; of several hands the first is
taken, and a frame without a hand is kept as not-a-number. CSV: 63 columns x0, y0, z0, x1, …, or 64 of which
the first is a frame number or a time (which is not used), or any columns under a header such as ``x0``,
``0_x`` or ``landmark_0_x``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.layouts import HAND, MEDIAPIPE_TO_HAND
from bandstop.skeleton.readers.assemble import as_sequence
from bandstop.skeleton.readers.classes import read_classes
from bandstop.skeleton.readers.files import read_text, reason
from bandstop.skeleton.readers.table import parse_table, separator_of
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["SUFFIXES", "points_of", "read_landmarks", "read_mediapipe"]

SUFFIXES = (".csv", ".json", ".jsonl")

_KEYS = (
    "landmarks",
    "multiHandLandmarks",
    "multi_hand_landmarks",
    "handLandmarks",
    "hand_landmarks",
    "landmark",
    "worldLandmarks",
    "world_landmarks",
    "multiHandWorldLandmarks",
    "multi_hand_world_landmarks",
    "handWorldLandmarks",
    "hand_world_landmarks",
)
_MOST_NESTING = 8
_AXIS_THEN_NUMBER = re.compile(r"(?:.*[^a-z])?([xyz])[^a-z0-9]?(\d{1,2})", re.IGNORECASE | re.ASCII)
_NUMBER_THEN_AXIS = re.compile(r"(?:.*\D)?(\d{1,2})[^a-z0-9]?([xyz])", re.IGNORECASE | re.ASCII)


def read_mediapipe(path: Path) -> SequenceSet:
    """Read a folder of class folders with JSON or CSV landmarks."""
    return read_classes(
        path,
        SUFFIXES,
        read_landmarks,
        edges=HAND.edges,
        name=path.resolve().name,
        root=HAND.root,
        joint_names=HAND.joint_names,
    )


def read_landmarks(path: Path) -> NDArray[np.float32]:
    """The landmarks of one file as [T, 21, 3] in our joint order."""
    text = read_text(path)
    read = {".json": _from_json, ".jsonl": _from_json_lines}.get(path.suffix.lower(), _from_csv)
    return as_sequence(read(text, path)[:, MEDIAPIPE_TO_HAND], path)


def points_of(frame: Any, nesting: int = 0) -> list[list[float]]:
    """The 21 points of the first hand of a frame; ``ValueError`` says what is wrong with it.

    >>> points_of({"hand_landmarks": [[{"x": i, "y": 0, "z": 1} for i in range(21)]]})[20]
    [20.0, 0.0, 1.0]
    >>> points_of({"hand_landmarks": []})[0]
    [nan, nan, nan]
    """
    if frame is None or frame == []:
        return [[float("nan")] * 3] * HAND.nodes
    if nesting > _MOST_NESTING:
        raise ValueError("landmarks are nested too deep")
    if isinstance(frame, dict):
        key = next((key for key in _KEYS if key in frame), None)
        if key is None:
            raise ValueError(f"a frame must have landmarks under one of {', '.join(_KEYS[:5])}, …")
        return points_of(frame[key], nesting + 1)
    if not isinstance(frame, list):
        raise ValueError(f"a frame must be a list of landmarks, found {type(frame).__name__}")
    if _is_hand(frame[0]):
        return points_of(frame[0], nesting + 1)
    if len(frame) != HAND.nodes:
        raise ValueError(f"a hand must have {HAND.nodes} landmarks, found {len(frame)}")
    return [_point(point) for point in frame]


def _is_hand(first: Any) -> bool:
    """Whether the first element of a list is itself a hand, not a point."""
    if isinstance(first, dict):
        return "x" not in first
    return first is None or first == [] or (isinstance(first, list) and isinstance(first[0], (dict, list)))


def _point(point: Any) -> list[float]:
    values = [point.get("x"), point.get("y"), point.get("z", 0.0)] if isinstance(point, dict) else point
    if not isinstance(values, list) or len(values) not in (2, 3):
        raise ValueError("a landmark must be x, y and z")
    return [_number(value) for value in (*values, 0.0)[:3]]


def _number(value: Any) -> float:
    if value is None:
        return float("nan")
    if type(value) not in (int, float):
        raise ValueError(f"a coordinate must be a number, found {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _from_json(text: str, path: Path) -> NDArray[np.float64]:
    document = _parsed(text, path, line=1)
    key = None
    if isinstance(document, dict):
        key = next((key for key in ("frames", *_KEYS) if key in document), None)
        if key is None:
            raise DataError("expected a list of frames, or an object with frames", path=path, line=1)
        document = document[key]
    if not isinstance(document, list) or not document:
        raise DataError("expected a list of frames with at least one frame", path=path, line=1)
    frames = []
    for number, frame in enumerate(document):
        try:
            frames.append(points_of(frame))
        except ValueError as problem:
            line = _line_of_frame(text, key, number)
            raise DataError(f"frame {number}: {problem}", path=path, line=line) from problem
    return np.array(frames)


def _from_json_lines(text: str, path: Path) -> NDArray[np.float64]:
    frames = []
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            frames.append(points_of(_parsed(content, path, line=line)))
        except ValueError as problem:
            raise DataError(str(problem), path=path, line=line) from problem
    if not frames:
        raise DataError("no frame", path=path, line=1)
    return np.array(frames)


def _parsed(text: str, path: Path, *, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise DataError(f"not JSON ({problem.msg})", path=path, line=line + problem.lineno - 1) from problem
    except (ValueError, RecursionError) as problem:
        raise DataError(f"not usable JSON ({reason(problem)})", path=path, line=line) from problem


def _line_of_frame(text: str, key: str | None, number: int) -> int:
    """The line where element ``number`` of the list of frames begins (slow: only for a complaint)."""
    start = re.search(r"\[" if key is None else rf'"{key}"\s*:\s*\[', text)
    depth, seen, end = 0, 0, 0
    position = start.end() if start else 0
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|[\[\]{},]', text[position:]):
        if seen == number:
            break
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] == "," and depth == 0:
            seen += 1
            end = token.end()
    position += end
    position += len(text[position:]) - len(text[position:].lstrip())
    return text.count("\n", 0, position) + 1


def _from_csv(text: str, path: Path) -> NDArray[np.float64]:
    table = parse_table(text, path, separator=separator_of(text), header=True)
    rows, columns = table.values.shape
    wanted = 3 * HAND.nodes
    order = _columns_by_name(table.header) if len(table.header) == columns else None
    if order is not None:
        return table.values[:, order].reshape(rows, HAND.nodes, 3)
    if columns not in (wanted, wanted + 1):
        raise DataError(
            f"expected {wanted} columns, or {wanted + 1} with a frame number first, found {columns}",
            path=path,
            line=int(table.lines[0]),
        )
    return table.values[:, columns - wanted :].reshape(rows, HAND.nodes, 3)


def _columns_by_name(header: Sequence[str]) -> list[int] | None:
    """Where x, y, z of landmark 0, 1, … stand, by names such as ``x0`` or ``0_x`` or from 1, or None.

    >>> _columns_by_name([f"{axis}{i}" for axis in "xyz" for i in range(21)])[:4]
    [0, 21, 42, 1]
    """
    found = {}
    for column, name in enumerate(header):
        first, second = _AXIS_THEN_NUMBER.fullmatch(name), _NUMBER_THEN_AXIS.fullmatch(name)
        if first:
            found[int(first[2]), first[1].lower()] = column
        elif second:
            found[int(second[1]), second[2].lower()] = column
    for base in (0, 1):
        places = [found.get((base + joint, axis)) for joint in range(HAND.nodes) for axis in "xyz"]
        if all(place is not None for place in places):
            return [place for place in places if place is not None]
    return None
