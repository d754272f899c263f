"""Tables of bones: two joints a line, by number or by name."""

from __future__ import annotations

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
        return _by_name(text, path, s.joint_names)
    nodes = s.joints.shape[1]
    table = parse_table(text, path, separator=separator_of(text), columns=2, header=True)
    good = (table.values == np.floor(table.values)) & (table.values >= 0) & (table.values < nodes)
    wrong = np.flatnonzero(~good.all(axis=1))
    if len(wrong):
        line = int(table.lines[wrong[0]])
        raise DataError(f"an edge must be two joint indexes from 0 to {nodes - 1}", path=path, line=line)
    return table.values.astype(np.int64)


def _by_name(text: str, path: Path, names: tuple[str, ...]) -> NDArray[np.int64]:
    place = {plain_name(name): i for i, name in enumerate(names)}
    separator = separator_of(text)
    edges: list[list[int | None]] = []
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
    if not edges:
        raise DataError("no line with two joints", path=path, line=1)
    return np.array(edges, dtype=np.int64)
