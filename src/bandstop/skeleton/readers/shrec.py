"""SHREC'17 Track: 14 hand gestures, each with one finger and with the whole hand, 22 joints, 28 subjects.

``gesture_G/finger_F/subject_S/essai_E/skeletons_world.txt``, one line a frame: x, y, z of 22 joints.
``train_gestures.txt`` and ``test_gestures.txt`` list the official split (1,960 and 840), one line a sequence:
G, F, S, E, its class of 14, its class of 28, and its number of frames.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.layouts import SHREC_22
from bandstop.skeleton.readers.assemble import assemble
from bandstop.skeleton.readers.clip import as_sequence
from bandstop.skeleton.readers.files import inside, read_text
from bandstop.skeleton.readers.table import parse_table
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["FILE", "GESTURES", "read_shrec", "read_skeletons_world"]

FILE = "skeletons_world.txt"
GESTURES = (
    "grab",
    "tap",
    "expand",
    "pinch",
    "rotation clockwise",
    "rotation counter-clockwise",
    "swipe right",
    "swipe left",
    "swipe up",
    "swipe down",
    "swipe x",
    "swipe +",
    "swipe v",
    "shake",
)
_FINGERS = ("one finger", "whole hand")
_LISTS = {"train": "train_gestures.txt", "test": "test_gestures.txt"}
_LINE = re.compile(
    r"(\d{1,4})\s+(\d{1,4})\s+(\d{1,4})\s+(\d{1,4})\s+(\d{1,4})\s+(\d{1,4})\s+(\d{1,7})", re.ASCII
)


@dataclass(frozen=True)
class _Listed:
    """A line of a list."""

    gesture: int
    finger: int
    subject: int
    trial: int
    label: dict[int, int]
    """Number of classes → class, from 1."""
    frames: int
    split: str
    path: Path
    line: int

    @property
    def folder(self) -> str:
        return f"gesture_{self.gesture}/finger_{self.finger}/subject_{self.subject}/essai_{self.trial}"


def read_shrec(path: Path, classes: int = 14) -> SequenceSet:
    """The sequences that the two lists in ``path`` name, by the official split; ``classes``: 14 or 28."""
    if classes not in (14, 28):
        raise DataError(f"SHREC'17 has 14 or 28 classes, found {classes}", path=path)
    found: dict[str, _Listed] = {}
    for split, name in _LISTS.items():
        _read_list(path / name, split, path, found)
    listed = list(found.values())
    files = [_file_of(entry, path) for entry in listed]
    both = [f"{gesture}, {finger}" for gesture in GESTURES for finger in _FINGERS]
    return assemble(
        path,
        [_whole(entry, file) for entry, file in zip(listed, files, strict=True)],
        files,
        layout=SHREC_22,
        labels=np.array([entry.label[classes] - 1 for entry in listed]),
        class_names=GESTURES if classes == 14 else both,
        subjects=[str(entry.subject) for entry in listed],
        split=[entry.split for entry in listed],
        sequence_ids=[entry.folder for entry in listed],
        name=f"shrec {classes}",
    )


def read_skeletons_world(path: Path) -> NDArray[np.float32]:
    """The frames of one ``skeletons_world.txt`` as [T, 22, 3]."""
    table = parse_table(read_text(path), path, separator=None, columns=3 * SHREC_22.nodes)
    return as_sequence(table.values.reshape(-1, SHREC_22.nodes, 3), path)


def _whole(entry: _Listed, file: Path) -> NDArray[np.float32]:
    """The frames of a listed sequence: one that was cut short after a line looks like a whole one."""
    frames = read_skeletons_world(file)
    if len(frames) != entry.frames:
        rule = f"a sequence must have the {entry.frames} frames that {entry.path.name} lists"
        found = f"(its line {entry.line}), found {len(frames)}"
        raise DataError(f"{rule} {found}", path=file, line=len(frames), hint="fetch the file again")
    return frames


def _read_list(path: Path, split: str, root: Path, found: dict[str, _Listed]) -> None:
    """Add what a list names to ``found``, by folder."""
    before = len(found)
    for line, content in enumerate(read_text(path, root).split("\n"), start=1):
        if not content.strip():
            continue
        entry = _parse_line(content.strip(), split, path, line)
        if entry.folder in found:
            first = found[entry.folder]
            where = "" if first.path == path else f" of {first.path.name}"
            problem = f"{entry.folder} is listed twice, first in line {first.line}{where}"
            raise DataError(problem, path=path, line=line, hint="leave one of them out")
        found[entry.folder] = entry
    if len(found) == before:
        raise DataError("the list names no sequence", path=path, line=1)


def _parse_line(content: str, split: str, path: Path, line: int) -> _Listed:
    match = _LINE.fullmatch(content)
    if match is None:
        rule = "expected gesture, finger, subject, trial, class of 14, class of 28 and frames"
        raise DataError(f"{rule}, found {content[:40]!a}", path=path, line=line)
    gesture, finger, subject, trial, one, other, frames = map(int, match.groups())
    if not (1 <= one <= 14 and 1 <= other <= 28):
        problem = f"classes must be 1 to 14 and 1 to 28, found {one} and {other}"
        raise DataError(problem, path=path, line=line)
    if other != 2 * (one - 1) + finger:
        rule = f"class {one} of 14 with finger {finger} must be class {2 * (one - 1) + finger} of 28"
        raise DataError(f"{rule}, found {other}", path=path, line=line, hint="mend the line")
    return _Listed(gesture, finger, subject, trial, {14: one, 28: other}, frames, split, path, line)


def _file_of(entry: _Listed, root: Path) -> Path:
    file = root / entry.folder / FILE
    if not file.exists() and not file.is_symlink():
        raise DataError(f"{entry.folder} is listed but there is no {file}", path=entry.path, line=entry.line)
    return inside(file, root)
