"""All formats behind one door: ``load("fpha:PATH")``, ``load("folder")``, ``load("hands")``, …."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.archive import read_archive
from bandstop.skeleton.hands import make_hands
from bandstop.skeleton.readers.folder import SUFFIXES, read_array_file, read_folder
from bandstop.skeleton.readers.fpha import read_fpha, read_skeleton
from bandstop.skeleton.readers.mediapipe import read_landmarks, read_mediapipe
from bandstop.skeleton.readers.pyskl import read_pyskl
from bandstop.skeleton.readers.sbu import read_sbu, read_skeleton_pos
from bandstop.skeleton.readers.utd_mhad import read_mat, read_utd_mhad
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["FORMS", "load", "load_sequence"]

FORMS = (
    "hands, hands:SEED, fpha:PATH, sbu:PATH, sbu:PATH@FOLD, utd-mhad:PATH, pyskl:PATH, pyskl:PATH@SPLIT, "
    "mediapipe:PATH, a folder, or an archive .npz"
)
"""The forms that ``load`` understands, in words."""


def load(spec: str) -> SequenceSet:
    """The sequence set that ``spec`` names.

    >>> load("no/such/set")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    bandstop.errors.DataError: no/such/set: no such data; expected hands, hands:SEED, fpha:PATH, ...
    """
    kind, colon, rest = spec.partition(":")
    if kind == "hands" and (not colon or rest):
        return _hands(rest)
    reader = _READERS.get(kind) if colon else None
    if reader is not None:
        if not rest:
            raise DataError(f"a path must follow {kind}:, expected {FORMS}", path=spec)
        return reader(rest)
    path = _path(spec)
    if spec and path.is_dir():
        return read_folder(path)
    if path.is_file() and path.suffix.lower() == ".npz":
        return read_archive(path)
    found = "neither a folder nor an archive .npz" if spec and path.exists() else "no such data"
    raise DataError(found, path=spec or "(nothing)", hint=f"expected {FORMS}")


def load_sequence(path: Path) -> NDArray[np.float32]:
    """One sequence [T, V, 3] from a file of any of the formats that keep one sequence a file.

    `.npy`, `.npz`, `.csv` as in a folder; `.json`, `.jsonl` MediaPipe; `.mat` UTD-MHAD; `.txt` FPHA, or SBU
    if it is called ``skeleton_pos``.
    """
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return read_array_file(path)
    if suffix in (".json", ".jsonl"):
        return read_landmarks(path)
    if suffix == ".mat":
        return read_mat(path)
    if suffix == ".txt":
        return read_skeleton_pos(path) if path.name.startswith("skeleton_pos") else read_skeleton(path)
    raise DataError("expected a .npy, .npz, .csv, .json, .jsonl, .mat or .txt sequence", path=path)


def _hands(seed: str) -> SequenceSet:
    if not re.fullmatch(r"\d{0,9}", seed, re.ASCII):
        raise DataError(
            f"a seed must be a whole number from 0 to 999999999, found {seed!a:.40}", path="hands"
        )
    return make_hands(seed=int(seed or 0))


def _sbu(rest: str) -> SequenceSet:
    path, fold = _path_and_choice(rest)
    if fold is not None and not re.fullmatch(r"[1-5]", fold):
        raise DataError(f"a fold must be 1 to 5, found {fold!a:.40}", path=f"sbu:{rest}")
    return read_sbu(path, None if fold is None else int(fold))


def _pyskl(rest: str) -> SequenceSet:
    return read_pyskl(*_path_and_choice(rest))


_READERS: dict[str, Callable[[str], SequenceSet]] = {
    "fpha": lambda rest: read_fpha(_path(rest)),
    "sbu": _sbu,
    "utd-mhad": lambda rest: read_utd_mhad(_path(rest)),
    "pyskl": _pyskl,
    "mediapipe": lambda rest: read_mediapipe(_path(rest)),
}


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # ~nobody
        return Path(text)


def _path_and_choice(text: str) -> tuple[Path, str | None]:
    """``PATH@CHOICE`` in two; an ``@`` that belongs to an existing path is left in it."""
    head, at, choice = text.rpartition("@")
    if not at or _path(text).exists():
        return _path(text), None
    return _path(head), choice
