"""Tables with one sequence a row: static poses, or the history of a point, each with its class.

``keypoint.csv`` of hand-gesture-recognition-using-mediapipe: a class number and x, y of a hand's 21
landmarks; ``point_history.csv``: a class number and x, y of a fingertip in 16 frames. Class names come from
the file beside it whose name ends in ``label.csv``, one a line. Any other table needs a header that names its
coordinates and a column called label, class, gesture, sign or target.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.record.reading import AS_IT_SAYS, Reading
from bandstop.skeleton.guess import guess_layout, layout_of_names
from bandstop.skeleton.layout import Layout
from bandstop.skeleton.layouts import MEDIAPIPE_HAND
from bandstop.skeleton.readers.assemble import assemble
from bandstop.skeleton.readers.clip import as_sequence
from bandstop.skeleton.readers.columns import columns_by_header, columns_by_pattern
from bandstop.skeleton.readers.files import inside, read_text
from bandstop.skeleton.readers.table import parse_table, separator_of
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["TABLES", "read_rows"]

TABLES = ("keypoint.csv", "point_history.csv")
"""Names of the two known tables, looked for in a folder without class folders."""

_LABELS = frozenset({"label", "labels", "class", "class_name", "gesture", "sign", "target"})
_MOST_CLASSES = 10_000


def read_rows(path: Path, reading: Reading = AS_IT_SAYS) -> SequenceSet:
    """A table of one sequence a row, each a set of its own frame or history."""
    text = read_text(path)
    separator = separator_of(text)
    header = [field.strip().strip('"') for field in text.split("\n", 1)[0].split(separator)]
    column = next((i for i, title in enumerate(header) if title.lower() in _LABELS), None)
    if column is not None:
        return _with_header(path, text, separator, header, column)
    return _numbered(path, text, separator, reading)


def _numbered(path: Path, text: str, separator: str | None, reading: Reading) -> SequenceSet:
    table = parse_table(text, path, separator=separator)
    numbers, values = table.values[:, 0], table.values[:, 1:]
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers < _MOST_CLASSES) & (numbers == np.floor(numbers))))
    if len(wrong):
        found, line = numbers[wrong[0]], int(table.lines[wrong[0]])
        raise DataError(f"the first column must be a class number, found {found:g}", path=path, line=line)
    frames, layout = _sequences(values, path, reading)
    labels = numbers.astype(np.int64)
    names = _label_names(path, int(labels.max()) + 1)
    lines = [f"{path.stem}/{line}" for line in table.lines.tolist()]
    return _set(path, frames, layout, labels, names, lines)


def _sequences(
    values: NDArray[np.float64], path: Path, reading: Reading
) -> tuple[NDArray[np.float32], Layout | None]:
    """Rows as frames [N, T, V, 3]."""
    rows, count = values.shape
    if reading.columns:
        try:
            kind = columns_by_pattern(reading.columns, count)
        except ValueError as problem:
            raise DataError(str(problem), path=path, line=1) from problem
        places = values[:, kind.index].reshape(rows, kind.joints, kind.axes)
        return as_sequence(places, path)[:, None], None
    if count in (2 * MEDIAPIPE_HAND.nodes, 3 * MEDIAPIPE_HAND.nodes):
        places = values.reshape(rows, MEDIAPIPE_HAND.nodes, -1)
        return as_sequence(places, path)[:, None], MEDIAPIPE_HAND
    if path.name.startswith("point_history") and count % 2 == 0 and count:
        points = as_sequence(values.reshape(rows, count // 2, 2), path)
        return points[:, :, None], Layout("", ("index tip",))
    raise DataError(
        f"expected a class number and 42 or 63 coordinates of a hand, found {count} after the first column",
        path=path,
        line=1,
        hint="name the columns in a header, or say what they are with --columns",
    )


def _with_header(path: Path, text: str, separator: str | None, header: list[str], column: int) -> SequenceSet:
    try:
        kind = columns_by_header([title if i != column else "" for i, title in enumerate(header)])
    except ValueError as problem:
        raise DataError(str(problem), path=path, line=1) from problem
    body = "\n" + text.partition("\n")[2]
    table = parse_table(body, path, separator=separator, columns=len(header), pick=lambda *_: kind.index)
    content = text.split("\n")
    said = [content[line - 1].split(separator)[column].strip().strip('"') for line in table.lines.tolist()]
    names = sorted(set(said))
    if len(names) > _MOST_CLASSES:
        raise DataError(f"more than {_MOST_CLASSES:,} classes", path=path, line=1)
    place = {name: i for i, name in enumerate(names)}
    frames = as_sequence(table.values.reshape(len(said), kind.joints, kind.axes), path)
    layout = layout_of_names(kind.names) if kind.names else guess_layout(frames)
    lines = [f"{path.stem}/{line}" for line in table.lines.tolist()]
    labels = np.array([place[name] for name in said])
    return _set(path, frames[:, None], layout, labels, names, lines, guessed=not kind.names)


def _set(
    path: Path,
    frames: NDArray[np.float32],
    layout: Layout | None,
    labels: NDArray[np.int64],
    names: list[str],
    ids: list[str],
    *,
    guessed: bool = False,
) -> SequenceSet:
    s = assemble(
        path,
        list(frames),
        [path] * len(frames),
        labels=labels,
        class_names=names,
        sequence_ids=ids,
        name=path.stem,
    )
    return s.with_layout(layout, guessed=guessed)


def _label_names(path: Path, count: int) -> list[str]:
    """The names of the classes, from the file of labels beside a table."""
    beside = sorted(path.parent.glob("*label.csv"))
    own = [file for file in beside if file.name.startswith(path.stem)] or beside
    if not own:
        return [f"class {number}" for number in range(count)]
    rows = csv.reader(read_text(inside(own[0], path.parent)).split("\n"))
    try:
        names = [row[0].strip() for row in rows if row and row[0].strip()]
    except csv.Error as error:
        raise DataError(f"not a readable CSV file ({error})", path=own[0], line=rows.line_num) from None
    if len(names) < count:
        raise DataError(
            f"{len(names)} class names, but {path.name} has class {count - 1}", path=own[0], line=len(names)
        )
    return names
