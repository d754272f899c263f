"""One sequence as a table: a row a frame, its columns named by a header or told by the user."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bandstop.errors import DataError
from bandstop.skeleton.guess import layout_of_names
from bandstop.skeleton.readers.clip import Clip, as_sequence
from bandstop.skeleton.readers.columns import (
    ByCount,
    Columns,
    columns_by_count,
    columns_by_header,
    columns_by_map,
    columns_by_pattern,
)
from bandstop.skeleton.readers.files import read_text
from bandstop.skeleton.readers.table import parse_table, separator_of

__all__ = ["read_csv"]

_FRAME = frozenset({"frame", "frame_id", "frame_number", "frame_index", "frame_no", "image_id"})
_MAP = 'a file of lines such as "{},wrist,x" (column, joint, axis), given as --columns FILE'


def read_csv(path: Path, *, columns: str = "", by_count: ByCount = columns_by_count) -> Clip:
    """The sequence of a table with a header (``x0, y0, z0, …``, ``wrist_x, …``) or as ``columns`` says.

    ``by_count`` is asked where there is neither, with the number of columns.
    """
    text = read_text(path)
    separator = separator_of(text)
    found: list[Columns] = []

    def pick(names: tuple[str, ...], count: int, line: int) -> tuple[int, ...]:
        if names and len(names) != count:
            raise DataError(f"the header has {len(names)} columns, this line {count}", path=path, line=line)
        try:
            found.append(_columns(names, count, columns, by_count))
        except ValueError as problem:
            title = next((name for name in names if not name.isdecimal()), "")
            hint = f"or write {_MAP.format(title[:20])}" if title and not columns else ""
            raise DataError(str(problem), path=path, line=line, hint=hint) from problem
        return found[0].index

    table = parse_table(text, path, separator=separator, header=True, pick=pick)
    _refuse_several(text, separator, table.header, path)
    kind = found[0]
    frames = table.values.reshape(len(table.values), kind.joints, kind.axes)
    return Clip(as_sequence(frames, path), layout_of_names(kind.names) if kind.names else None)


def _columns(names: tuple[str, ...], count: int, said: str, by_count: ByCount) -> Columns:
    if said and _is_file(said):
        return columns_by_map(names, _read_map(Path(said).expanduser()))
    if said:
        return columns_by_pattern(said, count)
    lead = sum(1 for name in names if not name.isdecimal())
    if names and lead == len(names):
        return columns_by_header(names)
    known = by_count(count - lead)  # a header of numbers, perhaps after a few names, says nothing
    return Columns(tuple(lead + i for i in known.index), known.axes)


def _is_file(said: str) -> bool:
    try:
        return (Path(said).suffix != "" and ".." not in said) or Path(said).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):
        return False


def _read_map(path: Path) -> dict[str, tuple[str, str]]:
    """The lines of a user's table: title of a column, joint, axis."""
    found: dict[str, tuple[str, str]] = {}
    text = read_text(path)
    separator = separator_of(text) or ","
    for number, line in enumerate(text.split("\n"), start=1):
        fields = [field.strip().strip('"') for field in line.split(separator)]
        if not any(fields) or (not found and [f.lower() for f in fields] == ["column", "joint", "axis"]):
            continue
        if len(fields) != 3 or not all(fields) or fields[2].lower() not in ("x", "y", "z"):
            raise DataError(
                'expected lines such as "WristPosX,wrist,x" (column, joint, axis)', path=path, line=number
            )
        found[fields[0]] = fields[1], fields[2].lower()
    if not found:
        raise DataError("no line that names a column, its joint and its axis", path=path, line=1)
    return found


def _refuse_several(text: str, separator: str | None, header: tuple[str, ...], path: Path) -> None:
    """Two rows of one frame are two hands or two people: which of them is meant cannot be known."""
    column = next((i for i, name in enumerate(header) if name.lower().replace(" ", "_") in _FRAME), None)
    if column is None:
        return
    rows = [(line, row.split(separator)) for line, row in enumerate(text.split("\n"), start=1) if row.strip()]
    numbers = np.array([fields[column].strip() for _, fields in rows[1:]])
    again = np.flatnonzero(numbers[1:] == numbers[:-1])
    if len(again):
        line = rows[again[0] + 2][0]
        raise DataError(
            f"frame {numbers[again[0]]!s:.20} has two rows",
            path=path,
            line=line,
            hint="write one file a hand, or both hands in one row",
        )
