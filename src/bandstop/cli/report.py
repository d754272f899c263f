"""`bandstop report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro

from bandstop.cli.parse import parse
from bandstop.report.page import write_report

__all__ = ["Report", "main"]


@dataclass(frozen=True)
class Report:
    """Make a run's self-contained page of pictures, report.html, from the files in its folder.

    Examples:
      bandstop report runs/hands98
      bandstop report runs/hands98 --compare runs/dense
    """

    run: tyro.conf.Positional[Path]
    """Run folder."""
    compare: tuple[Path, ...] = ()
    """Other runs to show beside it."""


def main(arguments: Sequence[str]) -> int:
    """Write the page and say where."""
    asked = parse(Report, "report", arguments)
    print(write_report(asked.run, compare=asked.compare))
    return 0
