"""MediaPipe landmarks of hands or poses in folders of classes, in MediaPipe's own joint order.

JSON: a list of frames (or an object that holds it under ``frames``), or the result of a single frame; JSON
Lines: a frame a line; `readers.landmarks` says what a frame may be. A frame without a hand is kept as
not-a-number. CSV: columns under a header such as ``x0``, ``0_x``, ``landmark_0_x`` or ``wrist_x``; without
one 63 columns x0, y0, z0, x1, …, or 64 of which the first is a frame number or a time (which is not used);
42 if there is no z; 99 for a pose, or 132 with the visibility of each point.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from bandstop.errors import DataError
from bandstop.record.reading import AS_IT_SAYS, Reading
from bandstop.skeleton.layout import Layout
from bandstop.skeleton.layouts import MEDIAPIPE_HAND, MEDIAPIPE_POSE
from bandstop.skeleton.readers.classes import read_classes
from bandstop.skeleton.readers.clip import Clip, as_sequence
from bandstop.skeleton.readers.columns import Columns, columns_by_pattern
from bandstop.skeleton.readers.csv_file import read_csv
from bandstop.skeleton.readers.files import read_text
from bandstop.skeleton.readers.json_text import line_of_element, parse_json
from bandstop.skeleton.readers.landmarks import KEYS, check_frames, frames_of, is_one_result, points_of
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["SUFFIXES", "clip_of_document", "read_landmarks", "read_mediapipe"]

SUFFIXES = (".csv", ".json", ".jsonl")

_PATTERNS = {63: "xyz", 42: "xy", 99: "xyz", 66: "xy", 132: "xyz-"}
_OF_NODES = {layout.nodes: layout for layout in (MEDIAPIPE_HAND, MEDIAPIPE_POSE)}


def read_mediapipe(path: Path, reading: Reading = AS_IT_SAYS) -> SequenceSet:
    """Read a folder of class folders with JSON or CSV landmarks."""
    read = partial(read_landmarks, columns=reading.columns)
    return read_classes(path, SUFFIXES, read, name=path.resolve().name)


def read_landmarks(path: Path, columns: str = "") -> Clip:
    """The landmarks of one file, [T, 21, 3] of a hand or [T, 33, 3] of a pose."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        text = read_text(path)
        return clip_of_document(parse_json(text, path), text, path)
    if suffix == ".jsonl":
        return _from_json_lines(read_text(path), path)
    clip = read_csv(path, columns=columns, by_count=_by_count)
    layout = clip.layout or _OF_NODES.get(clip.frames.shape[1])
    if layout is None or not _is_mediapipe(layout):
        found = clip.frames.shape[1]
        raise DataError(f"a hand has 21 landmarks and a pose 33, found {found}", path=path, line=1)
    return Clip(clip.frames, layout)


def clip_of_document(document: Any, text: str, path: Path) -> Clip:
    """The frames of a JSON document that was parsed from ``text``."""
    key = None
    if is_one_result(document):
        document = [document]
    elif isinstance(document, dict):
        key = next((key for key in ("frames", *KEYS) if key in document), None)
        if key is None:
            raise DataError("expected a list of frames, or an object with frames", path=path, line=1)
        document = document[key]
    if not isinstance(document, list) or not document:
        raise DataError("expected a list of frames with at least one frame", path=path, line=1)
    frames = []
    _check_length(len(document), path)
    for number, frame in enumerate(document):
        try:
            frames.append(points_of(frame))
        except ValueError as problem:
            line = line_of_element(text, key, number)
            raise DataError(f"frame {number}: {problem}", path=path, line=line) from problem
    return _clip(frames, path)


def _from_json_lines(text: str, path: Path) -> Clip:
    frames = []
    _check_length(text.count("\n"), path)
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            frames.append(points_of(parse_json(content, path, line=line)))
        except ValueError as problem:
            raise DataError(str(problem), path=path, line=line) from problem
    if not frames:
        raise DataError("no frame", path=path, line=1)
    return _clip(frames, path)


def _check_length(frames: int, path: Path) -> None:
    try:
        check_frames(frames)
    except ValueError as problem:
        raise DataError(str(problem), path=path, line=1) from problem


def _clip(frames: list[Any], path: Path) -> Clip:
    try:
        values, layout = frames_of(frames)
    except ValueError as problem:
        raise DataError(str(problem), path=path, line=1) from problem
    return Clip(as_sequence(values, path), layout)


def _by_count(count: int) -> Columns:
    for lead in (0, 1):
        if count - lead in _PATTERNS:
            return columns_by_pattern(f"{lead}:{_PATTERNS[count - lead]}", count)
    raise ValueError(
        f"expected 63 columns, or 64 with a frame number first, found {count} (42 in the plane, 99 of a pose)"
    )


def _is_mediapipe(layout: Layout) -> bool:
    return any(sorted(layout.joint_names) == sorted(known.joint_names) for known in _OF_NODES.values())
