"""`bandstop table`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from bandstop.cli.parse import MaybeFile, parse
from bandstop.study.tables.render import Format, render

__all__ = ["Table", "main"]

_SUFFIXES: dict[str, Format] = {".md": "md", ".tex": "latex", ".html": "html", ".htm": "html"}


@dataclass(frozen=True)
class Table:
    """Tables of studies: means, deviations and 95 % intervals over seeds, and paired tests.

    Paired tests compare methods by runs of the same seed (and fold), at the same rate, on the same data.

    Examples:
      bandstop table studies/main
      bandstop table studies/rivals --overview
      bandstop table studies/rivals --baseline gmp-lamp --curve rivals.svg
      bandstop table studies/paper-table-2 --paper --format latex --out table2.tex
    """

    results: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="STUDY …")]
    """Study folders, or their results.csv; several are read as one."""
    format: Format | None = None
    """Markdown, LaTeX or HTML; by default what --out ends in, or else Markdown."""
    metric: Annotated[str, tyro.conf.arg(metavar="COLUMN")] = "accuracy"
    """Column to average and compare."""
    baseline: Annotated[str | None, tyro.conf.arg(metavar="METHOD")] = None
    """Method (or whole label) to compare with, or `all` for every pair; by default the first method of
    each rate."""
    overview: bool = False
    """One column per rate instead, and the lead of the baseline over each other method."""
    paper: bool = False
    """Print the paper's tables beside ours instead."""
    curve: MaybeFile = None
    """Also draw the metric against kept weights: .png, .svg or .pdf."""
    out: MaybeFile = None
    """Write the tables to a file instead of printing them."""


def main(arguments: Sequence[str]) -> int:
    """Print or write the tables."""
    asked = parse(Table, "table", arguments)

    from bandstop.files import write_text
    from bandstop.study.results import read_results
    from bandstop.study.tables.groups import gather
    from bandstop.study.tables.overview import overview_tables
    from bandstop.study.tables.paper import paper_tables
    from bandstop.study.tables.summary import check_metric, paired_tables, summary_tables

    groups = gather(read_results(asked.results))
    metric = check_metric(asked.metric)
    if asked.paper:
        tables = paper_tables(groups, metric)
    elif asked.overview:
        tables = overview_tables(groups, metric, asked.baseline)
    else:
        tables = [*summary_tables(groups, metric), *paired_tables(groups, metric, asked.baseline)]
    guessed = _SUFFIXES.get(asked.out.suffix, "md") if asked.out else "md"
    text = render(tables, asked.format or guessed)
    if asked.curve is not None:
        from bandstop.study.tables.curve import write_curve

        write_curve(groups, metric, asked.curve)
    if asked.out is not None:
        write_text(asked.out, text)
    else:
        print(text, end="")
    return 0
