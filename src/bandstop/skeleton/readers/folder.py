"""The newcomer's format: one sub-folder per class holding `.npy`, `.npz`, `.csv` or `.bvh` sequences.

A sequence is [T, V, 3] or [T, V, 2]; a `.csv` has a row a frame, its columns told by a header (see
`readers.columns`), or 3 V columns x0, y0, z0, x1, … of a known skeleton; a `.npz` holds a single array or
one named ``joints``. Class folders may lie under ``train/`` and ``test/``. Bones come from an ``edges.csv``
at the top (two joints a line); without it they are those of the layout that the files declare, or of the
known one with V joints, and none if V is unknown. Subjects are taken from file names such as
``s01_wave.npy`` when every name has one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from bandstop.errors import DataError
from bandstop.record.reading import AS_IT_SAYS, SAME, Reading
from bandstop.skeleton.arrays import open_npz, read_npy
from bandstop.skeleton.guess import guess_layout, layout_called
from bandstop.skeleton.readers.bvh import read_bvh
from bandstop.skeleton.readers.classes import read_classes
from bandstop.skeleton.readers.clip import Clip, as_sequence, check_sequence
from bandstop.skeleton.readers.columns import ByCount, Columns, columns_by_count, columns_by_pattern
from bandstop.skeleton.readers.csv_file import read_csv
from bandstop.skeleton.readers.edges import read_edges
from bandstop.skeleton.readers.files import inside
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["SUFFIXES", "read_array_file", "read_folder", "with_joints_known"]

SUFFIXES = (".bvh", ".csv", ".npy", ".npz")


def read_folder(path: Path, reading: Reading = AS_IT_SAYS) -> SequenceSet:
    """Read a folder of class folders."""
    table = path / "edges.csv"
    own = inside(table, path) if table.exists() or table.is_symlink() else None
    joints = layout_called(reading.layout).nodes if reading.layout not in ("", SAME) else None
    assumed: list[int] = []

    def by_count(count: int) -> Columns:
        if own is None or joints is not None or count % 3:
            return columns_by_count(count, joints)
        assumed.append(count)  # three columns a joint: checked below against the bones of edges.csv
        return columns_by_pattern("xyz", count)

    read = partial(read_array_file, columns=reading.columns, by_count=by_count)
    s = read_classes(path, SUFFIXES, read, name=path.resolve().name)
    if own is None:
        return with_joints_known(s, reading.layout)
    edges = read_edges(own, s)
    spoken = int(edges.max()) + 1
    if assumed and spoken != s.joints.shape[1]:
        found = f"{assumed[0]} columns without a header make {assumed[0] // 3} joints"
        hint = "if the columns are right, say so with --columns xyz"
        raise DataError(f"{found}, but edges.csv speaks of {spoken}", path=path, hint=hint)
    return replace(with_joints_known(s, reading.layout) if reading.layout else s, edges=edges)


def with_joints_known(s: SequenceSet, layout: str = "") -> SequenceSet:
    """``s`` with the layout that the user names, or that it declares itself, or that can be guessed."""
    if layout and layout != SAME:
        known = layout_called(layout)
        if known.nodes != s.joints.shape[1]:
            found = s.joints.shape[1]
            raise DataError(f"{layout} has {known.nodes} joints, the data {found}", path=s.name)
        return s.with_layout(known)
    return s if s.joint_names else s.with_layout(guess_layout(s.joints), guessed=True)


def read_array_file(path: Path, columns: str = "", by_count: ByCount = columns_by_count) -> Clip:
    """The sequence [T, V, 3] of a `.npy`, `.npz`, `.csv` or `.bvh` file."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return Clip(as_sequence(read_npy(path, partial(check_sequence, path=path)), path))
    if suffix == ".bvh":
        return read_bvh(path)
    return _from_npz(path) if suffix == ".npz" else read_csv(path, columns=columns, by_count=by_count)


def _from_npz(path: Path) -> Clip:
    with open_npz(path) as archive:
        names = archive.names
        if "joints" not in names and len(names) != 1:
            found = ", ".join(sorted(names)) or "nothing"
            raise DataError(f"must hold a single array or one named joints, found {found[:80]!a}", path=path)
        name = "joints" if "joints" in names else names[0]
        head = archive.heads([name])[name]
        check_sequence(head.shape, head.dtype, path)
        return Clip(as_sequence(archive.read(name), path))
