"""First-Person Hand Action (FPHA): 21 hand joints, official split of 600 training and 575 test sequences.

``Hand_pose_annotation_v1/Subject_S/ACTION/RUN/skeleton.txt``, one line a frame: its number and 63 values in
mm. ``data_split_action_recognition.txt`` lists what belongs to the set: sections ``Training 600`` and
``Test 575`` of lines ``Subject_1/open_juice_bottle/2 0`` (path and class number). Files that it does not
list are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.layouts import HAND
from bandstop.skeleton.readers.assemble import assemble
from bandstop.skeleton.readers.clip import as_sequence
from bandstop.skeleton.readers.files import inside, read_text
from bandstop.skeleton.readers.table import frames_by_number, parse_table
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["SPLIT_FILE", "TREE", "Entry", "parse_split", "read_fpha", "read_skeleton"]

TREE = "Hand_pose_annotation_v1"
SPLIT_FILE = "data_split_action_recognition.txt"

_SECTION = re.compile(r"(training|train|test)\s+(\d{1,7})", re.IGNORECASE)
_ENTRY = re.compile(
    r"((?:subject_)?(\w{1,40})/([\w\-]{1,100})/\w{1,40})\s+(\d{1,6})", re.IGNORECASE | re.ASCII
)


@dataclass(frozen=True)
class Entry:
    """A line of the split file."""

    folder: str
    subject: str
    action: str
    number: int
    split: str
    line: int


def read_fpha(path: Path) -> SequenceSet:
    """Read the tree at ``path``: the folder that holds ``Hand_pose_annotation_v1``, or that folder itself."""
    tree = path / TREE if (path / TREE).is_dir() else path
    if not tree.is_dir():
        raise DataError(f"no such folder: expected the one that holds {TREE}", path=path)
    split_file = next(
        (at / SPLIT_FILE for at in (path, tree, tree.parent) if (at / SPLIT_FILE).exists()), None
    )
    if split_file is None:
        raise DataError(f"{SPLIT_FILE} is neither in this folder nor beside {TREE}", path=path)
    entries = parse_split(read_text(split_file), split_file)
    names = _class_names(entries, split_file)
    files = [_file_of(entry, tree, split_file) for entry in entries]
    return assemble(
        tree,
        [read_skeleton(file) for file in files],
        files,
        labels=np.array([names.index(entry.action) for entry in entries]),
        class_names=names,
        subjects=[entry.subject for entry in entries],
        split=[entry.split for entry in entries],
        sequence_ids=[entry.folder for entry in entries],
        layout=HAND,
        name="fpha",
    )


def read_skeleton(path: Path) -> NDArray[np.float32]:
    """The frames of one ``skeleton.txt`` as [T, 21, 3]; frame numbers left out become not-a-number."""
    table = parse_table(read_text(path), path, separator=None, columns=1 + 3 * HAND.nodes)
    return as_sequence(frames_by_number(table, path).reshape(-1, HAND.nodes, 3), path)


def parse_split(text: str, path: Path) -> list[Entry]:
    r"""The entries of the split file, each section checked against the count in its title.

    >>> parse_split("Training 1\nSubject_1/wave/2 0\nTest 1\nSubject_2/wave/1 0\n", Path("s.txt"))[1].split
    'test'
    """
    entries: list[Entry] = []
    seen: dict[str, int] = {}
    title, split, asked, start = 1, "", 0, 0
    for line, content in enumerate([*text.split("\n"), "Test 0"], start=1):
        words = content.strip()
        section = _SECTION.fullmatch(words)
        if section:
            found = len(entries) - start
            if found != asked:
                raise DataError(
                    f"the section promises {asked} sequences and lists {found}", path=path, line=title
                )
            title, asked, start = line, int(section[2]), len(entries)
            split = "test" if section[1].lower() == "test" else "train"
        elif words:
            entry = _ENTRY.fullmatch(words)
            if entry is None:
                rule = 'expected "Training N", "Test N" or a line such as "Subject_1/pour_milk/2 7"'
                raise DataError(f"{rule}, found {words[:60]!a}", path=path, line=line)
            if not split:
                raise DataError('a sequence before the first "Training N" or "Test N"', path=path, line=line)
            if entry[1] in seen:
                raise DataError(
                    f"{entry[1]} is listed twice, first in line {seen[entry[1]]}", path=path, line=line
                )
            seen[entry[1]] = line
            entries.append(Entry(entry[1], entry[2], entry[3], int(entry[4]), split, line))
    if not entries:
        raise DataError("the split file lists no sequence", path=path, line=1)
    return entries


def _class_names(entries: list[Entry], path: Path) -> list[str]:
    """Class names in order of their numbers; a name has one number and a number has one name."""
    number_of: dict[str, int] = {}
    name_of: dict[int, str] = {}
    for entry in entries:
        number = number_of.setdefault(entry.action, entry.number)
        name = name_of.setdefault(entry.number, entry.action)
        if number != entry.number or name != entry.action:
            raise DataError(
                f"class {entry.action} is number {entry.number} here, but {name} has that number elsewhere"
                if name != entry.action
                else f"class {entry.action} is number {entry.number} here and {number} elsewhere",
                path=path,
                line=entry.line,
            )
    return [name_of[number] for number in sorted(name_of)]


def _file_of(entry: Entry, tree: Path, split_file: Path) -> Path:
    file = tree / entry.folder / "skeleton.txt"
    if not file.exists() and not file.is_symlink():
        raise DataError(f"{entry.folder} is listed but there is no {file}", path=split_file, line=entry.line)
    return inside(file, tree)
