"""The results of a study: one row per finished run, in a CSV file that anything can read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from bandstop.errors import DataError, MissingExtra
from bandstop.files import atomic_write, write_text
from bandstop.record.folder import read_metrics
from bandstop.record.metrics import Metrics
from bandstop.study.runs import PlannedRun
from bandstop.study.study_folder import StudyFolder

__all__ = ["ResultRow", "Results", "read_results"]


@dataclass(frozen=True)
class ResultRow:
    """A finished run."""

    id: str
    data: str
    method: str
    variant: str
    prior: str | None
    rate: float | None
    """As asked."""
    seed: int
    fold: int | None
    net: str
    """gcn, or lstm and its layers."""
    preset: str
    split: str
    """What it was judged on."""
    accuracy: float
    class_accuracy: float
    weights_total: int
    weights_kept: int
    weights_live: int
    rate_observed: float
    parameters_total: int
    parameters_kept: int
    macs_dense: int
    macs_live: int
    bytes: int
    """Of the plain arrays for a dense run, of the sparse ones for a pruned run."""
    epochs: int
    seconds: float
    distilled: int
    """How many teachers it learned from."""
    teacher_seconds: float
    """What training them took."""


_TYPES = {"int": int, "float": float, "str": str}


class Results:
    """Rows of the finished runs, written to the study's folder as a whole."""

    def __init__(self, folder: StudyFolder, runs: Sequence[PlannedRun], *, parquet: bool = False) -> None:
        self.folder, self.parquet = folder, parquet
        self.runs = {run.id: run for run in runs}
        self.rows: dict[str, Metrics] = {}

    def __contains__(self, run: str) -> bool:
        return run in self.rows

    def add(self, run: str) -> None:
        """Take in a finished run."""
        self.rows[run] = read_metrics(self.folder.run(run))

    def table(self) -> list[ResultRow]:
        """All rows, in the plan's order."""
        return [self._row(run) for run in self.runs.values() if run.id in self.rows]

    def line(self, run: str) -> str:
        """A finished run in a few words."""
        row = self._row(self.runs[run])
        weights = f"{row.weights_kept:,} of {row.weights_total:,} weights"
        return f"{run}: {row.accuracy:.2f} %, {weights}, {row.seconds:.0f} s"

    def write(self) -> None:
        """Rewrite ``results.csv`` (and ``results.parquet`` where wanted) atomically."""
        rows = self.table()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = [f.name for f in fields(ResultRow)]
        writer.writerow(names)
        writer.writerows([_text(getattr(row, name)) for name in names] for row in rows)
        write_text(self.folder.root / "results.csv", text.getvalue())
        if self.parquet:
            _write_parquet(rows, self.folder.root / "results.parquet")

    def _row(self, run: PlannedRun) -> ResultRow:
        found, axes, net = self.rows[run.id], run.axes, run.config.net
        measured = {f.name for f in fields(Metrics)} & {f.name for f in fields(ResultRow)}
        given = {name: getattr(found, name) for name in measured - {"method", "prior", "seed"}}
        return ResultRow(
            **given,
            id=run.id,
            data=axes.data,
            method=axes.method,
            variant=axes.variant,
            prior=axes.prior,
            rate=axes.rate,
            seed=axes.seed,
            fold=axes.fold,
            net=f"lstm-{net.layers}" if net.kind == "lstm" else net.kind,
            preset=run.config.preset,
            bytes=found.stored_bytes,
            distilled=len(found.distilled_from),
            teacher_seconds=round(self._teacher_seconds(run), 2),
        )

    def _teacher_seconds(self, run: PlannedRun) -> float:
        """None of a joined run: what its networks took is its own."""
        return 0.0 if run.config.joined_from else float(sum(self.rows[t].seconds for t in run.needs))


def _text(value: Any) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _write_parquet(rows: list[ResultRow], path: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", extra="study") from None
    kinds = {"int": pyarrow.int64(), "float": pyarrow.float64(), "str": pyarrow.string()}
    schema = pyarrow.schema([(f.name, kinds[str(f.type).split(" ")[0]]) for f in fields(ResultRow)])
    columns = {f.name: [getattr(row, f.name) for row in rows] for f in fields(ResultRow)}
    with atomic_write(path) as part:
        parquet.write_table(pyarrow.table(columns, schema=schema), part)


def read_results(paths: Sequence[Path]) -> list[ResultRow]:
    """Rows of result files or study folders, in order; a run that is in several is taken once."""
    found: dict[str, ResultRow] = {}
    for given in paths:
        path = given / "results.csv" if given.is_dir() else given
        if not path.is_file():
            raise DataError("there is no results file; give a study's folder or its results.csv", path=path)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise DataError("not a text file in UTF-8", path=path) from None
        for row in _parse(text, path):
            found.setdefault(row.id, row)
    if not found:
        raise DataError("no run is finished yet", path=paths[0] if paths else None)
    return list(found.values())


def _parse(text: str, path: Path) -> list[ResultRow]:
    reader = csv.reader(io.StringIO(text))
    header = next(_cells(reader, path), [])
    missing = [f.name for f in fields(ResultRow) if f.name not in header]
    if missing:
        raise DataError(
            f"a results file needs the column {missing[0]!r}; is it written by bandstop study?",
            path=path,
            line=1,
        )
    rows = []
    for cells in _cells(reader, path):
        if len(cells) != len(header):
            raise DataError(
                f"expected {len(header)} columns, found {len(cells)}", path=path, line=reader.line_num
            )
        named = dict(zip(header, cells, strict=True))
        try:
            rows.append(ResultRow(**{f.name: _value(named[f.name], str(f.type)) for f in fields(ResultRow)}))
        except ValueError as error:
            raise DataError(
                f"a value is not of its column's type ({str(error)[:100]})", path=path, line=reader.line_num
            ) from None
    return rows


def _cells(reader: Any, path: Path) -> Iterator[list[str]]:
    """The rows of a CSV file; what the csv module refuses, such as an endless field, is said."""
    try:
        yield from reader
    except csv.Error as error:
        raise DataError(f"not a readable CSV file ({error})", path=path, line=reader.line_num) from None


def _value(text: str, kind: str) -> Any:
    """A cell as its column's type.

    >>> _value("0.98", "float | None"), _value("", "float | None"), _value("7", "int")
    (0.98, None, 7)
    """
    first, _, optional = kind.partition(" | ")
    return None if optional and not text else _TYPES[first](text)
