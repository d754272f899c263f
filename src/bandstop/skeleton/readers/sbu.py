"""SBU Kinect Interaction: two persons of 15 joints, 8 interactions, 5 official folds by pair of subjects.

``PAIR/CLASS/RUN/skeleton_pos.txt`` (``s01s02/01/001/…``), one line a frame: frame number, then x, y, z of
30 joints, comma separated and normalised. Read back as x = 1280 − 2560 x, y = 960 − 1920 y, z = 10000 z /
7.8125.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.layouts import SBU_PAIR
from bandstop.skeleton.readers.assemble import assemble
from bandstop.skeleton.readers.clip import as_sequence
from bandstop.skeleton.readers.files import inside, read_text, sorted_entries
from bandstop.skeleton.readers.table import frames_by_number, parse_table
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["CLASSES", "FOLDS", "read_sbu", "read_skeleton_pos"]

CLASSES = (
    "approaching",
    "departing",
    "kicking",
    "punching",
    "pushing",
    "hugging",
    "shaking hands",
    "exchanging",
)

FOLDS = (
    ("s01s02", "s03s04", "s05s02", "s06s04"),
    ("s02s03", "s02s07", "s03s05", "s05s03"),
    ("s01s03", "s01s07", "s07s01", "s07s03"),
    ("s02s01", "s02s06", "s03s02", "s03s06"),
    ("s04s02", "s04s03", "s04s06", "s06s02", "s06s03"),
)

_FOLD_OF = {pair: number for number, pairs in enumerate(FOLDS, start=1) for pair in pairs}
_PAIR = re.compile(r"s\d{2}s\d{2}")
_FILE = "skeleton_pos.txt"


def read_sbu(path: Path, fold: int | None = None) -> SequenceSet:
    """Read the tree at ``path``; ``fold`` (1 to 5) becomes the test set and the others the training set.

    The subject of a sequence is its pair, so that a split by subject is a split by pair.
    """
    if fold is not None and not 1 <= fold <= len(FOLDS):
        raise DataError(f"fold must be 1 to {len(FOLDS)}, found {fold}", path=path)
    files, labels, pairs = [], [], []
    for pair in sorted_entries(path, path):
        if not pair.is_dir() or not _PAIR.fullmatch(pair.name):
            continue
        if pair.name not in _FOLD_OF:
            raise DataError(f"pair {pair.name} is in none of the {len(FOLDS)} official folds", path=pair)
        for action in (entry for entry in sorted_entries(pair, path) if entry.is_dir()):
            label = int(action.name) if re.fullmatch(r"0?[1-8]", action.name, re.ASCII) else 0
            if not label:
                raise DataError("a class folder must be 01 to 08", path=action)
            for run in (entry for entry in sorted_entries(action, path) if entry.is_dir()):
                files.append(inside(run / _FILE, path))
                labels.append(label - 1)
                pairs.append(pair.name)
    if not files:
        raise DataError(f"no pair folder such as s01s02/01/001 holding {_FILE}", path=path)
    folds = np.array([_FOLD_OF[pair] for pair in pairs])
    return assemble(
        path,
        [read_skeleton_pos(file) for file in files],
        files,
        labels=np.array(labels),
        class_names=CLASSES,
        subjects=pairs,
        split=None if fold is None else np.where(folds == fold, "test", "train"),
        sequence_ids=[file.parent.relative_to(path).as_posix() for file in files],
        fold=folds,
        layout=SBU_PAIR,
        name="sbu",
    )


def read_skeleton_pos(path: Path) -> NDArray[np.float32]:
    """The frames of one ``skeleton_pos.txt`` as [T, 30, 3], un-normalised."""
    table = parse_table(read_text(path), path, separator=",", columns=1 + 3 * SBU_PAIR.nodes)
    x, y, z = np.moveaxis(frames_by_number(table, path).reshape(-1, SBU_PAIR.nodes, 3), 2, 0)
    with np.errstate(over="ignore"):
        return as_sequence(np.stack([1280 - 2560 * x, 960 - 1920 * y, 10000 * z / 7.8125], axis=2), path)
