"""All formats behind one door: ``load("fpha:PATH")``, ``load("folder")``, ``load("hands")``, …."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bandstop.errors import DataError
from bandstop.record.data_forms import FORMS
from bandstop.record.reading import AS_IT_SAYS, SAME, Reading
from bandstop.skeleton.archive import read_archive
from bandstop.skeleton.flat import refuse_mixture
from bandstop.skeleton.hands import make_hands
from bandstop.skeleton.readers.edges import read_edges
from bandstop.skeleton.readers.folder import read_folder, with_joints_known
from bandstop.skeleton.readers.fpha import read_fpha
from bandstop.skeleton.readers.jackknife import read_jackknife
from bandstop.skeleton.readers.mediapipe import read_mediapipe
from bandstop.skeleton.readers.poses import read_coco, read_openpose
from bandstop.skeleton.readers.pyskl import read_pyskl
from bandstop.skeleton.readers.rows import TABLES, read_rows
from bandstop.skeleton.readers.sbu import read_sbu
from bandstop.skeleton.readers.shrec import read_shrec
from bandstop.skeleton.readers.utd_mhad import read_utd_mhad
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["FORMS", "load"]


def load(spec: str, reading: Reading = AS_IT_SAYS, *, remembered: bool = False) -> SequenceSet:
    """The sequence set that ``spec`` names, read as ``reading`` says where the data does not say it.

    ``remembered``: the reading is that of a model's training, not said of this data: what the data says
    itself goes before it, and the model has its own bones.

    >>> load("no/such/set")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    bandstop.errors.DataError: no/such/set: no such data; expected hands, hands:SEED, fpha:PATH, ...
    """
    s = _read(spec, reading, AS_IT_SAYS if remembered else reading)
    refuse_mixture(s, spec)
    known = not reading.edges or remembered
    return s if known else replace(s, edges=read_edges(_path(reading.edges), s))


def _read(spec: str, reading: Reading, said: Reading) -> SequenceSet:
    """``said``: what of the reading is refused where the data says it itself."""
    kind, colon, rest = spec.partition(":")
    if kind == "hands" and (not colon or rest):
        _refuse(said, spec, "columns", "layout")
        return _hands(rest)
    if colon and (kind in _READERS or kind in _TOLD):
        if not rest:
            raise DataError(f"a path must follow {kind}:, expected {FORMS}", path=spec)
        if kind in _TOLD:
            _refuse(said, spec, "layout")
            return _TOLD[kind](_path(rest), reading)
        _refuse(said, spec, "columns", "layout")
        return _READERS[kind](rest)
    path = _path(spec)
    if spec and path.is_dir():
        tables = [path / name for name in TABLES if (path / name).is_file()]
        return read_rows(tables[0], reading) if tables else read_folder(path, reading)
    if path.is_file() and path.suffix.lower() == ".csv":
        _refuse(said, spec, "layout")
        return read_rows(path, reading)
    if path.is_file() and path.suffix.lower() == ".npz":
        _refuse(said, spec, "columns")
        return _archive(path, reading, said)
    found = "neither a folder nor an archive .npz" if spec and path.exists() else "no such data"
    raise DataError(found, path=spec or "(nothing)", hint=f"expected {FORMS}")


def _refuse(reading: Reading, spec: str, *names: str) -> None:
    for name in names:
        if getattr(reading, name) not in ("", SAME):
            raise DataError(
                f"--{name} is for data that does not say it itself", path=spec, hint="leave it out"
            )


def _archive(path: Path, reading: Reading, said: Reading) -> SequenceSet:
    s = read_archive(path)
    if s.joint_names and not s.guessed:
        _refuse(said, str(path), "layout")
        return s
    if reading.layout in ("", SAME):
        return s
    known = with_joints_known(s, reading.layout)
    return replace(known, edges=s.edges) if len(s.edges) and not s.guessed else known


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


def _shrec(rest: str) -> SequenceSet:
    path, classes = _path_and_choice(rest)
    if classes not in (None, "14", "28"):
        raise DataError(f"SHREC'17 has 14 or 28 classes, found {classes!a:.40}", path=f"shrec:{rest}")
    return read_shrec(path, int(classes or 14))


_READERS: dict[str, Callable[[str], SequenceSet]] = {
    "fpha": lambda rest: read_fpha(_path(rest)),
    "shrec": _shrec,
    "jackknife": lambda rest: read_jackknife(_path(rest)),
    "openpose": lambda rest: read_openpose(_path(rest)),
    "coco": lambda rest: read_coco(_path(rest)),
    "sbu": _sbu,
    "utd-mhad": lambda rest: read_utd_mhad(_path(rest)),
    "pyskl": lambda rest: read_pyskl(*_path_and_choice(rest)),
}
_TOLD: dict[str, Callable[[Path, Reading], SequenceSet]] = {"mediapipe": read_mediapipe}
"""Formats in which a user may say what the columns of a table are."""


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
