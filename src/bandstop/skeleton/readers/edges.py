"""Tables of bones: two joints a line, by number or by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.layout import plain_name
from bandstop.skeleton.readers.files import read_text
from bandstop.skeleton.readers.table import parse_table, separator_of
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["read_edges"]


def read_edges(path: Path, s: SequenceSet) -> NDArray[np.int64]:
    """The bones of ``path`` for the joints of ``s``."""
    text = read_text(path)
    if s.joint_names and not any(character.isdigit() for character in text):
        return _each_once(*_by_name(text, path, s.joint_names), path)
    nodes = s.joints.shape[1]
    table = parse_table(text, path, separator=separator_of(text), columns=2, header=True)
    good = (table.values == np.floor(table.values)) & (table.values >= 0) & (table.values < nodes)
    wrong = np.flatnonzero(~good.all(axis=1))
    if len(wrong):
        line = int(table.lines[wrong[0]])
        raise DataError(f"an edge must be two joint indexes from 0 to {nodes - 1}", path=path, line=line)
    return _each_once(table.values.astype(np.int64), table.lines.tolist(), path)


def _each_once(edges: NDArray[np.int64], lines: Sequence[int], path: Path) -> NDArray[np.int64]:
    """``edges``, refused where a bone leads back to its joint, or is told before (in either direction)."""
    told: dict[tuple[int, int], int] = {}
    for (a, b), line in zip(edges.tolist(), lines, strict=True):
        if a == b:
            raise DataError(
                f"a bone must join two joints, found one from joint {a} to itself",
                path=path,
                line=line,
                hint="leave the line out",
            )
        if before := told.get((min(a, b), max(a, b))):
            raise DataError(
                f"every bone must be told once, found that of joints {a} and {b} as in line {before}",
                path=path,
                line=line,
                hint="leave one of the lines out",
            )
        told[min(a, b), max(a, b)] = line
    return edges


def _by_name(text: str, path: Path, names: tuple[str, ...]) -> tuple[NDArray[np.int64], list[int]]:
    place = {plain_name(name): i for i, name in enumerate(names)}
    separator = separator_of(text)
    edges: list[list[int | None]] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        ends = [place.get(plain_name(field)) for field in line.split(separator)]
        if len(ends) != 2 or None in ends:
            if not edges and number == 1:
                continue  # a header
            known = ", ".join(names[:5])
            raise DataError(f"an edge must be two of the joints {known}, …", path=path, line=number)
        edges.append(ends)
        lines.append(number)
    if not edges:
        raise DataError("no line with two joints", path=path, line=1)
    return np.array(edges, dtype=np.int64), lines
