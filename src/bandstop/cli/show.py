"""Small tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from bandstop.record.metrics import Metrics

__all__ = ["run_table", "text_table"]


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
            f"{m.macs_live:,}",
            f"{m.seconds:.0f}",
        ]
        for name, m in runs.items()
    ]
    return text_table(header, rows)
