"""UTD-MHAD: 27 actions of 8 subjects, 20 Kinect joints; odd subjects train, even subjects test.

A folder of ``aA_sS_tT_skeleton.mat`` (action, subject, trial), variable ``d_skel`` [20, 3, frames].
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.layouts import KINECT_20
from bandstop.skeleton.readers.assemble import assemble
from bandstop.skeleton.readers.clip import as_sequence
from bandstop.skeleton.readers.files import read_bytes, sorted_entries
from bandstop.skeleton.readers.matlab import read_variable
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["CLASSES", "read_mat", "read_utd_mhad"]

CLASSES = (
    "swipe left",
    "swipe right",
    "wave",
    "clap",
    "throw",
    "cross arms",
    "basketball shoot",
    "draw x",
    "draw circle clockwise",
    "draw circle counter-clockwise",
    "draw triangle",
    "bowling",
    "boxing",
    "baseball swing",
    "tennis swing",
    "arm curl",
    "tennis serve",
    "push",
    "knock",
    "catch",
    "pick up and throw",
    "jog",
    "walk",
    "sit to stand",
    "stand to sit",
    "lunge",
    "squat",
)

_NAME = re.compile(r"a(\d{1,4})_s(\d{1,4})_t(\d{1,4})_skeleton\.mat", re.IGNORECASE | re.ASCII)
_VARIABLE = "d_skel"
_MOST_BYTES = 32 * 2**20


def read_utd_mhad(path: Path) -> SequenceSet:
    """The `.mat` files of ``path``, or of the ``Skeleton`` folder in it, by action, subject and trial."""
    folder = path / "Skeleton" if (path / "Skeleton").is_dir() else path
    found = []
    for entry in sorted_entries(folder, path):
        match = _NAME.fullmatch(entry.name)
        if match:
            found.append((int(match[1]), int(match[2]), int(match[3]), entry))
    if not found:
        raise DataError("no file named such as a1_s1_t1_skeleton.mat", path=folder)
    found.sort(key=lambda item: item[:3])
    for action, _, _, file in found:
        if not 1 <= action <= len(CLASSES):
            raise DataError(f"action must be 1 to {len(CLASSES)}, found {action}", path=file)
    files = [file for *_, file in found]
    return assemble(
        folder,
        [read_mat(file) for file in files],
        files,
        labels=np.array([action - 1 for action, *_ in found]),
        class_names=CLASSES,
        subjects=[str(subject) for _, subject, *_ in found],
        split=["train" if subject % 2 else "test" for _, subject, *_ in found],
        sequence_ids=[f"a{action}_s{subject}_t{trial}" for action, subject, trial, _ in found],
        layout=KINECT_20,
        name="utd-mhad",
    )


def read_mat(path: Path) -> NDArray[np.float32]:
    """The variable ``d_skel`` [20, 3, frames] of a MATLAB file as a sequence [T, 20, 3]."""
    try:
        values = read_variable(read_bytes(path, limit=_MOST_BYTES), _VARIABLE)
    except ValueError as problem:
        raise DataError(f"not a readable MATLAB file: {problem}", path=path) from problem
    if values is None:
        raise DataError(f"no variable {_VARIABLE}", path=path)
    if values.ndim != 3 or values.shape[:2] != (KINECT_20.nodes, 3) or not values.size:
        raise DataError(
            f"{_VARIABLE} must be [{KINECT_20.nodes}, 3, frames], found {values.shape}", path=path
        )
    return as_sequence(np.moveaxis(values, 2, 0), path)
