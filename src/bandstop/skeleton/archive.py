"""The sequence archive: a set of sequences as one `.npz` file, never a pickle."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from bandstop.errors import DataError
from bandstop.files import atomic_write
from bandstop.skeleton.arrays import read_npz
from bandstop.skeleton.coerce import as_integers, as_texts
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["read_archive", "write_archive"]

_REQUIRED = ("joints", "offsets", "labels", "subjects", "split", "edges", "class_names")
_OPTIONAL = ("sequence_ids", "fold", "name", "root", "joint_names")


def write_archive(s: SequenceSet, path: str | os.PathLike[str]) -> None:
    """Write ``s`` as a sequence archive, whole or not at all; the same set gives the same bytes."""
    arrays: dict[str, Any] = {field: getattr(s, field) for field in (*_REQUIRED, *_OPTIONAL)}
    if s.fold is None:
        del arrays["fold"]
    for field in ("class_names", "joint_names"):
        arrays[field] = np.array(arrays[field], dtype=np.str_)
    try:
        with atomic_write(path) as part, part.open("wb") as stream:
            np.savez_compressed(stream, **arrays)
    except OSError as problem:
        raise DataError(f"cannot be written ({problem.strerror or problem})", path=path) from problem


def read_archive(path: str | os.PathLike[str]) -> SequenceSet:
    """Read a sequence archive; ``sequence_ids``, ``fold``, ``name``, ``root``, ``joint_names`` may be absent.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "set.npz"
    >>> one = SequenceSet.from_sequences([np.ones((5, 3, 3))], labels=[0], class_names=["rest"], name="tiny")
    >>> write_archive(one, file)
    >>> again = read_archive(file)
    >>> again.name, again[0].shape, again.fold
    ('tiny', (5, 3, 3), None)
    """
    file = Path(path)
    arrays: dict[str, Any] = read_npz(file, (*_REQUIRED, *_OPTIONAL))
    absent = [field for field in _REQUIRED if field not in arrays]
    if absent:
        raise DataError(
            f"a sequence archive must hold {', '.join(_REQUIRED)}; {', '.join(absent)} missing", path=file
        )
    try:
        if "root" in arrays:
            arrays["root"] = int(as_integers("root", arrays["root"].reshape(-1)[:1])[0])
        arrays["name"] = (
            as_texts("name", arrays["name"].reshape(-1)[:1])[0].item() if "name" in arrays else file.stem
        )
        s = SequenceSet(**arrays)
    except (DataError, ValueError, IndexError) as problem:
        raise DataError(str(problem), path=file) from problem
    if not len(s):
        raise DataError("the archive holds no sequence", path=file)
    return s
