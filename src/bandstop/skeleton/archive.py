"""The sequence archive: a set of sequences as one `.npz` file, never a pickle."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bandstop.errors import DataError
from bandstop.files import atomic_write
from bandstop.skeleton.arrays import open_npz
from bandstop.skeleton.coerce import as_integers, as_texts
from bandstop.skeleton.guess import guess_layout, layout_of_names
from bandstop.skeleton.limits import RAISE, allowed
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["read_archive", "write_archive"]

_REQUIRED = ("joints", "offsets", "labels", "subjects", "split", "class_names")
_OPTIONAL = ("edges", "sequence_ids", "fold", "name", "root", "joint_names", "layout", "guessed")
_MOST_BESIDE = 128 * 2**20
"""Most bytes of ids, labels and names, which become Python objects one by one."""


def write_archive(s: SequenceSet, path: str | os.PathLike[str]) -> None:
    """Write ``s`` as a sequence archive, whole or not at all; the same set gives the same bytes."""
    arrays: dict[str, Any] = {field: getattr(s, field) for field in (*_REQUIRED, *_OPTIONAL)}
    unsaid = {"fold": s.fold is None, "layout": not s.layout, "guessed": not s.guessed}
    for field in (field for field, absent in unsaid.items() if absent):
        del arrays[field]
    for field in ("class_names", "joint_names"):
        arrays[field] = np.array(arrays[field], dtype=np.str_)
    try:
        with atomic_write(path) as part, part.open("wb") as stream:
            np.savez_compressed(stream, **arrays)
    except OSError as problem:
        raise DataError(f"cannot be written ({problem.strerror or problem})", path=path) from problem


def read_archive(path: str | os.PathLike[str]) -> SequenceSet:
    """Read a sequence archive; ``sequence_ids``, ``fold``, ``name``, ``root``, ``joint_names`` may be absent.

    So may ``edges``: the bones are then those of a known layout, if it is one, as in a folder.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "set.npz"
    >>> one = SequenceSet.from_sequences([np.ones((5, 3, 3))], labels=[0], class_names=["rest"], name="tiny")
    >>> write_archive(one, file)
    >>> again = read_archive(file)
    >>> again.name, again[0].shape, again.fold
    ('tiny', (5, 3, 3), None)
    """
    file = Path(path)
    with open_npz(file) as archive:
        heads = archive.heads((*_REQUIRED, *_OPTIONAL))
        absent = [field for field in _REQUIRED if field not in heads]
        if absent:
            rule = f"a sequence archive must hold {', '.join(_REQUIRED)}"
            raise DataError(f"{rule}; {', '.join(absent)} missing", path=file)
        joints = heads.pop("joints")
        _check_beside(sum(head.bytes for head in heads.values()), file)
        fields = {"edges": np.zeros((0, 2), np.int64)} | {name: archive.read(name) for name in heads}
        # Checked with a stand-in that takes no memory, so that a refusal comes before the frames are read.
        s = _built(fields, np.broadcast_to(np.zeros((), joints.dtype), joints.shape), file)
        s = replace(s, joints=archive.read("joints"))
    if not len(s):
        raise DataError("the archive holds no sequence", path=file)
    return s if "edges" in heads else _with_bones(s, rooted="root" in heads)


def _with_bones(s: SequenceSet, *, rooted: bool) -> SequenceSet:
    if s.joint_names:
        return replace(s, edges=np.array(layout_of_names(s.joint_names).edges, np.int64))
    return s if rooted else s.with_layout(guess_layout(s.joints), guessed=True)


def _check_beside(found: int, file: Path) -> None:
    if found > (limit := allowed(_MOST_BESIDE)):
        raise DataError(f"{found:,} bytes beside the frames, more than {limit:,}", path=file, hint=RAISE)


def _built(arrays: dict[str, Any], joints: Any, file: Path) -> SequenceSet:
    try:
        for field in ("root", "guessed"):
            if field in arrays:
                first = np.asarray(arrays[field]).reshape(-1)[:1]
                arrays[field] = int(
                    as_integers(field, first.astype(int) if first.dtype == bool else first)[0]
                )
        for field, absent in (("name", file.stem), ("layout", "")):
            given = field in arrays
            arrays[field] = as_texts(field, arrays[field].reshape(-1)[:1])[0].item() if given else absent
        return SequenceSet(**{**arrays, "joints": joints, "guessed": bool(arrays.get("guessed", False))})
    except (DataError, ValueError, IndexError) as problem:
        raise DataError(str(problem), path=file) from problem
