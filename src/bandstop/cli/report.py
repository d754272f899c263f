"""`bandstop report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bandstop.cli.parse import MaybeFile, RunArgument, Runs, parse

__all__ = ["Report", "main"]


@dataclass(frozen=True)
class Report:
    """Make a run's self-contained page of pictures, report.html, from the files in its folder.

    Examples:
      bandstop report runs/hands98
      bandstop report runs/hands98 --compare runs/dense
      bandstop report runs/hands98 --figure hands98.png
    """

    run: RunArgument
    """Run folder."""
    compare: Runs = ()
    """Other runs to show beside it."""
    figure: MaybeFile = None
    """Write a single picture (.png or .svg) there instead of the page."""


def main(arguments: Sequence[str]) -> int:
    """Write the page and say where."""
    asked = parse(Report, "report", arguments)

    from bandstop.report.figure import write_figure
    from bandstop.report.page import write_report

    if asked.figure:
        print(write_figure(asked.run, asked.figure))
    else:
        print(write_report(asked.run, compare=asked.compare))
    return 0
