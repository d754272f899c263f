"""One file of one sequence, of any of the formats that keep one sequence a file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.record.reading import AS_IT_SAYS, Reading
from bandstop.skeleton.layouts import HAND, KINECT_20, SBU_PAIR, SHREC_22
from bandstop.skeleton.readers.clip import Clip
from bandstop.skeleton.readers.columns import columns_by_count
from bandstop.skeleton.readers.folder import SUFFIXES, read_array_file, with_joints_known
from bandstop.skeleton.readers.fpha import read_skeleton
from bandstop.skeleton.readers.poses import read_any_json
from bandstop.skeleton.readers.sbu import read_skeleton_pos
from bandstop.skeleton.readers.shrec import FILE, read_skeletons_world
from bandstop.skeleton.readers.utd_mhad import read_mat
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["load_file", "load_sequence"]


def load_sequence(path: Path, reading: Reading = AS_IT_SAYS) -> NDArray[np.float32]:
    """The frames [T, V, 3] of a file, with its joints in the file's own order."""
    return _clip(path, reading, None).frames


def load_file(path: Path, reading: Reading = AS_IT_SAYS, *, joints: int | None = None) -> SequenceSet:
    """One sequence as a set of its own, with the names of its joints where they are known.

    `.npy`, `.npz`, `.csv`, `.bvh` as in a folder; `.json` MediaPipe, OpenPose or COCO; `.jsonl` MediaPipe;
    `.mat` UTD-MHAD; `.txt` FPHA, or SBU if it is called ``skeleton_pos``, or SHREC if ``skeletons_world``.
    ``joints``: how many a table without a header has, if that is known.
    """
    clip = _clip(path, reading, joints)
    s = SequenceSet.from_sequences([clip.frames], labels=[0], class_names=["?"], sequence_ids=[str(path)])
    return with_joints_known(s.with_layout(clip.layout), reading.layout)


def _clip(path: Path, reading: Reading, joints: int | None) -> Clip:
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return read_array_file(path, reading.columns, partial(columns_by_count, joints=joints))
    if suffix not in _READERS:
        raise DataError("expected a .npy, .npz, .csv, .bvh, .json, .jsonl, .mat or .txt sequence", path=path)
    return _READERS[suffix](path)


def _text(path: Path) -> Clip:
    if path.name == FILE:
        return Clip(read_skeletons_world(path), SHREC_22)
    if path.name.startswith("skeleton_pos"):
        return Clip(read_skeleton_pos(path), SBU_PAIR)
    return Clip(read_skeleton(path), HAND)


_READERS: dict[str, Callable[[Path], Clip]] = {
    ".json": read_any_json,
    ".jsonl": read_any_json,
    ".mat": lambda path: Clip(read_mat(path), KINECT_20),
    ".txt": _text,
}
