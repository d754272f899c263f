"""`bandstop extract`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bandstop.cli.parse import Folder, MaybeData, RunArgument, parse
from bandstop.errors import ConfigError
from bandstop.record.budget import BudgetChoice

__all__ = ["Extract", "main"]


@dataclass(frozen=True, kw_only=True)
class Extract(BudgetChoice):
    """Take a budget out of a run that was trained for many (`bandstop train … --rates 0.5:0.995`).

    The result is a run folder as any other: evaluate, predict, export and report read it. The data of
    training is needed: the statistics of batch normalisation are measured anew on its training part, and the
    result is judged on its test part.

    Examples:
      bandstop extract runs/any --rate 0.97 --out runs/any97
      bandstop extract runs/any --macs 20000 --out runs/any20k
    """

    run: RunArgument
    """Folder of a run that was trained with --rates."""
    out: Folder
    """Folder of the new run."""
    data: MaybeData = None
    """Where the data of training is now, if it has moved."""
    no_report: bool = False
    """Leave out the page of pictures, OUT/report.html."""


def main(arguments: Sequence[str]) -> int:
    """Extract, then print the small table."""
    asked = parse(Extract, "extract", arguments)
    if asked.budget is None:
        raise ConfigError("one budget is needed, such as --rate 0.97, found none")

    from bandstop.cli.show import tell_dropped, tell_run
    from bandstop.training.extract import extract_run

    metrics = extract_run(asked.run, asked.budget, asked.out, data=asked.data, say_dropped=tell_dropped)
    tell_run(asked.out, metrics, report=not asked.no_report)
    return 0
