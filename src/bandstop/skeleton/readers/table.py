"""Tables of numbers in text files, one line a frame; every complaint carries the file and the line."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.limits import RAISE, allowed

__all__ = ["MOST_LINE", "MOST_LINES", "Table", "frames_by_number", "parse_table", "separator_of"]

MOST_LINES, MOST_LINE = 1_000_000, 1_000_000
"""Most lines of a table, and most characters of one: an hour of a hand has 108,000 lines of some 700."""

_FEWEST_COUNTED = 6
"""A header of column numbers 0, 1, 2, … has at least so many: fewer may be a frame."""

Pick = Callable[[tuple[str, ...], int, int], "Sequence[int] | None"]
"""From the header (or nothing), the number of columns and the line to the columns to read; None: all."""

_MOST_STRETCH = 20
"""Longest numbering of a sequence in units of its frames: beyond it is a broken file, not a lost hand."""


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers [rows, columns], the line each row came from, and the fields of the header if there was one."""

    values: NDArray[np.float64]
    lines: NDArray[np.int64]
    header: tuple[str, ...] = ()


def parse_table(
    text: str,
    path: Path,
    *,
    separator: str | None,
    columns: int | None = None,
    header: bool = False,
    pick: Pick | None = None,
) -> Table:
    r"""Rows of ``columns`` numbers (None: as many as the first has), split at ``separator`` (None: blanks).

    Empty fields of a separated table are read as not-a-number; a first line without any number is the header,
    if one is allowed. ``pick`` is asked once, with the header and the number of columns, which of them to
    read; the others may hold anything.

    >>> parse_table("x,y\n1,2\n3,\n", Path("a.csv"), separator=",", header=True).values.tolist()
    [[1.0, 2.0], [3.0, nan]]
    >>> parse_table("1 2\n3 x\n", Path("a.txt"), separator=None)
    Traceback (most recent call last):
        ...
    bandstop.errors.DataError: a.txt, line 2: 'x' is not a number
    """
    _check_lines(text, path)
    values, lines = array("d"), array("q")
    names: tuple[str, ...] = ()
    chosen: Sequence[int] | None = None
    longest = allowed(MOST_LINE)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if len(line) > longest:
            raise DataError("the line is too long", path=path, line=number, hint=RAISE)
        fields = line.split(separator)
        if header and not lines and not names and _is_header(fields):
            names = tuple(field.strip().strip('"') for field in fields)
            continue
        if columns is None:
            columns = len(fields)
        if len(fields) != columns:
            raise DataError(f"expected {columns} columns, found {len(fields)}", path=path, line=number)
        if pick is not None:
            if not lines:
                chosen = pick(names, columns, number)
            fields = fields if chosen is None else [fields[i] for i in chosen]
        _append(values, fields, path, number, careful="_" in line)
        lines.append(number)
    if not lines:
        raise DataError("no line with numbers", path=path, line=1)
    rows = np.frombuffer(values, np.float64).reshape(len(lines), -1)
    return Table(rows, np.frombuffer(lines, np.int64), names)


def _check_lines(text: str, path: Path) -> None:
    found, limit = text.count("\n"), allowed(MOST_LINES)
    if found > limit:
        raise DataError(f"holds {found:,} lines, more than {limit:,}", path=path, line=limit, hint=RAISE)


def _append(values: array[float], fields: list[str], path: Path, line: int, *, careful: bool) -> None:
    before = len(values)
    try:
        if careful:  # Python reads 1_0 as ten
            raise ValueError
        values.extend(map(float, fields))
    except ValueError:
        del values[before:]
        values.extend(_careful(fields, path, line))


def _is_header(fields: list[str]) -> bool:
    """Whether a first line is a header: no field is a number, or they are the numbers of the columns."""
    if not any(map(_is_number, fields)):
        return True
    bare = [field.strip().strip('"') for field in fields]
    count = [field for field in bare if field.isdecimal()]
    rest = bare[: len(bare) - len(count)]
    counted = len(count) >= _FEWEST_COUNTED and bare[len(rest) :] == [str(i) for i in range(len(count))]
    return counted and not any(_is_number(field) for field in rest)


def separator_of(text: str) -> str | None:
    """The separator of a table: semicolon, tab or comma if its beginning has one, otherwise blanks (None)."""
    start = text[:65536]
    return next((mark for mark in ";\t," if mark in start), None)


def frames_by_number(table: Table, path: Path) -> NDArray[np.float64]:
    r"""The columns after the first, placed by the frame number in the first; frames left out become nan.

    >>> frames_by_number(parse_table("4 1\n6 3\n", Path("a"), separator=None), Path("a"))[:, 0].tolist()
    [1.0, nan, 3.0]
    """
    numbers, frames = table.values[:, 0], table.values[:, 1:]
    wrong = np.flatnonzero(~(np.abs(numbers) < 2**53) | (numbers != np.floor(numbers)))
    if len(wrong):
        found, line = numbers[wrong[0]], int(table.lines[wrong[0]])
        raise DataError(f"the first column must be a frame number, found {found:g}", path=path, line=line)
    late = 1 + np.flatnonzero(np.diff(numbers) < 1)
    if len(late):
        found, line = numbers[late[0]], int(table.lines[late[0]])
        raise DataError(f"frame numbers must rise, found {found:.0f} again or late", path=path, line=line)
    span = int(numbers[-1] - numbers[0]) + 1
    if span == len(frames):
        return frames
    if span > _MOST_STRETCH * len(frames):
        raise DataError(
            f"{len(frames)} frames are numbered over a span of {span:,}, too few to interpolate between",
            path=path,
            line=int(table.lines[-1]),
        )
    placed = np.full((span, frames.shape[1]), np.nan)
    placed[(numbers - numbers[0]).astype(np.int64)] = frames
    return placed


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _careful(fields: list[str], path: Path, line: int) -> list[float]:
    """The slow road for lines with an empty or a wrong field."""
    numbers = []
    for field in fields:
        bare = field.strip()
        if bare and ("_" in bare or not _is_number(bare)):
            raise DataError(f"{_short(bare)} is not a number", path=path, line=line)
        numbers.append(float(bare) if bare else float("nan"))
    return numbers


def _short(field: str) -> str:
    return ascii(field if len(field) <= 30 else field[:27] + "...")
