"""Small tables for the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bandstop.record.drop import dropped_text
from bandstop.record.folder import REPORT
from bandstop.record.metrics import Metrics

if TYPE_CHECKING:
    from bandstop.skeleton import SequenceSet

__all__ = ["run_table", "tell_dropped", "tell_run", "text_table", "what_next", "without_unusable"]


def text_table(header: list[str], rows: list[list[str]]) -> str:
    """A plain table, first column left, the others right.

    >>> print(text_table(["run", "n"], [["a", "1"], ["bcd", "20"]]))
    run   n
    ---  --
    a     1
    bcd  20
    """
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(cells: list[str]) -> str:
        first, *rest = (
            c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join([first, *rest]).rstrip()

    return "\n".join([line(header), line(["-" * w for w in widths]), *map(line, rows)])


def run_table(runs: Mapping[str, Metrics]) -> str:
    """Accuracy and size of finished runs side by side."""
    header = ["run", "accuracy", "by class", "weights", "live", "bytes", "MACs", "seconds"]
    rows = [
        [
            name,
            f"{m.accuracy:.2f} %",
            f"{m.class_accuracy:.2f} %",
            f"{m.weights_kept:,} of {m.weights_total:,}",
            f"{m.weights_live:,}",
            f"{m.stored_bytes:,}",
            f"{m.macs:,}",
            f"{m.seconds:.0f}",
        ]
        for name, m in runs.items()
    ]
    return text_table(header, rows)


def tell_run(run: Path, metrics: Metrics, *, report: bool) -> None:
    """Draw the report of a run that was just made, if that is asked for, and say what it is and what next."""
    if report:
        from bandstop.engine.pause import telling
        from bandstop.report.page import write_report

        with telling(f"drawing {run / REPORT}"):
            write_report(run)
    print(run_table({run.name: metrics}))
    print(what_next(run, metrics))


def what_next(run: Path, metrics: Metrics) -> str:
    """What the end of a training says below its table: what was judged, the report, and what to type next."""
    judged = sum(map(sum, metrics.confusion))
    lines = [f"judged on {metrics.judged_on}: {judged:,} sequences that training never saw"]
    if (run / REPORT).is_file():
        lines.append(f"report: {run / REPORT}")
    lines.append(f"next: bandstop predict {run} FILE …, or bandstop export {run} --to c")
    return "\n".join(lines)


def without_unusable(sequences: SequenceSet, drop: str | None) -> SequenceSet:
    """``sequences`` without those that cannot be used, if that is asked for; says which were left out."""
    from bandstop.skeleton.unusable import usable

    return usable(sequences, drop, say=tell_dropped)[0]


def tell_dropped(dropped: Sequence[str]) -> None:
    """Say which sequences were left out, on standard error."""
    if dropped:
        print(dropped_text(dropped), file=sys.stderr)
