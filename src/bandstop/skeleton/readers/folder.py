"""The newcomer's format: one sub-folder per class holding `.npy`, `.npz` or `.csv` sequences.

A sequence is [T, V, 3]; a `.csv` has T rows of 3 V columns x0, y0, z0, x1, … with or without a header; a
`.npz` holds a single array or one named ``joints``. Class folders may lie under ``train/`` and ``test/``.
Bones come from an ``edges.csv`` at the top (a pair of joint indexes a line); without it they are those of
the known layout with V joints, and none if V is unknown. Subjects are taken from file names such as
``s01_wave.npy`` when every name has one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.arrays import read_npy, read_npz
from bandstop.skeleton.layouts import guess_layout
from bandstop.skeleton.readers.assemble import as_sequence
from bandstop.skeleton.readers.classes import read_classes
from bandstop.skeleton.readers.files import inside, read_text
from bandstop.skeleton.readers.table import parse_table, separator_of
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["SUFFIXES", "read_array_file", "read_folder"]

SUFFIXES = (".csv", ".npy", ".npz")


def read_folder(path: Path) -> SequenceSet:
    """Read a folder of class folders."""
    s = read_classes(path, SUFFIXES, read_array_file, name=path.resolve().name)
    table = path / "edges.csv"
    if table.exists() or table.is_symlink():
        return replace(s, edges=_read_edges(inside(table, path), s.joints.shape[1]))
    layout = guess_layout(s.joints)
    if layout is None:
        return s
    return replace(s, edges=np.array(layout.edges), root=layout.root, joint_names=layout.joint_names)


def read_array_file(path: Path) -> NDArray[np.float32]:
    """The sequence [T, V, 3] of a `.npy`, `.npz` or `.csv` file."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return as_sequence(read_npy(path), path)
    if suffix == ".npz":
        arrays = read_npz(path)
        if "joints" not in arrays and len(arrays) != 1:
            found = ", ".join(sorted(arrays)) or "nothing"
            raise DataError(f"must hold a single array or one named joints, found {found[:80]!a}", path=path)
        return as_sequence(arrays.get("joints", next(iter(arrays.values()))), path)
    return _read_csv(path)


def _read_csv(path: Path) -> NDArray[np.float32]:
    text = read_text(path)
    table = parse_table(text, path, separator=separator_of(text), header=True)
    rows, columns = table.values.shape
    if columns % 3:
        line = int(table.lines[0])
        raise DataError(
            f"expected three columns a joint (x, y, z), found {columns} columns", path=path, line=line
        )
    return as_sequence(table.values.reshape(rows, columns // 3, 3), path)


def _read_edges(path: Path, nodes: int) -> NDArray[np.int64]:
    text = read_text(path)
    table = parse_table(text, path, separator=separator_of(text), columns=2, header=True)
    good = (table.values == np.floor(table.values)) & (table.values >= 0) & (table.values < nodes)
    wrong = np.flatnonzero(~good.all(axis=1))
    if len(wrong):
        line = int(table.lines[wrong[0]])
        raise DataError(f"an edge must be two joint indexes from 0 to {nodes - 1}", path=path, line=line)
    return table.values.astype(np.int64)
