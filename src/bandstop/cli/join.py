"""`bandstop join`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from bandstop.cli.parse import Folder, MaybeData, parse

__all__ = ["Join", "main"]

RunArguments = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN …")]


@dataclass(frozen=True, kw_only=True)
class Join:
    """Put pruned runs of convolutions over time side by side in one network, whose scores are their mean.

    The kept weights add up, and so do the multiplications of an inference: three networks of 5,000 weights
    make one of 15,000. The result is a run folder as any other: evaluate, predict, export and report read it.
    Signals may differ, data and split may not. Of a run that is joined itself all networks count alike. The
    data of training is needed to judge the result.

    Examples:
      bandstop join runs/a runs/b runs/c --out runs/abc
    """

    runs: RunArguments
    """Folders of at least two finished runs."""
    out: Folder
    """Folder of the new run."""
    data: MaybeData = None
    """Where the data of training is now, if it has moved."""
    no_report: bool = False
    """Leave out the page of pictures, OUT/report.html."""


def main(arguments: Sequence[str]) -> int:
    """Join, then print the small table."""
    asked = parse(Join, "join", arguments)

    from bandstop.cli.show import tell_dropped, tell_run
    from bandstop.training.join import join_runs

    metrics = join_runs(asked.runs, asked.out, data=asked.data, say_dropped=tell_dropped)
    tell_run(asked.out, metrics, report=not asked.no_report)
    return 0
