"""`bandstop extract`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from bandstop.cli.parse import parse
from bandstop.cli.show import run_table
from bandstop.errors import ConfigError
from bandstop.method.budget import Budget
from bandstop.training.extract import extract_run

__all__ = ["Extract", "main"]


@dataclass(frozen=True)
class Extract:
    """Take a budget out of a run that was trained for many (`bandstop train … --rates 0.5:0.995`), without training.

    The result is a run folder as any other: evaluate, predict, export and report read it. The data of training is needed: the
    statistics of batch normalisation are measured anew on its training part, and the result is judged on its test part.

    Examples:
      bandstop extract runs/any --rate 0.97 --out runs/any97
      bandstop extract runs/any --macs 20000 --out runs/any20k
    """

    run: tyro.conf.Positional[Path]
    """Folder of a run that was trained with --rates."""
    out: Path
    """Folder of the new run."""
    rate: float | None = None
    """Budget: share of the weights to remove."""
    weights: int | None = None
    """Budget: number of weights to keep."""
    bytes: int | None = None
    """Budget: bytes of the sparse network."""
    macs: int | None = None
    """Budget: multiply-accumulates an inference."""
    scope: Literal["prunable", "network"] | None = None
    """Whether the budget counts prunable weights only or every parameter of the network; unless given, bytes count everything."""
    data: str | None = None
    """Where the data of training is now, if it has moved."""
    no_report: bool = False
    """Leave out the page of pictures, OUT/report.html."""


def main(arguments: Sequence[str]) -> int:
    """Extract, then print the small table."""
    asked = parse(Extract, "extract", arguments)
    metrics = extract_run(asked.run, _budget(asked), asked.out, data=asked.data)
    if not asked.no_report:
        from bandstop.report.page import write_report

        write_report(asked.out)
    print(run_table({asked.out.name: metrics}))
    return 0


def _budget(asked: Extract) -> Budget:
    amounts = {
        "rate": asked.rate,
        "weights": asked.weights,
        "bytes": asked.bytes,
        "macs": asked.macs,
    }
    given = {kind: amount for kind, amount in amounts.items() if amount is not None}
    if len(given) != 1:
        found = " and ".join(f"--{kind}" for kind in given) or "none"
        raise ConfigError(f"one budget is needed, such as --rate 0.97, found {found}")
    ((kind, amount),) = given.items()
    return Budget(kind, amount, asked.scope or ("network" if kind == "bytes" else "prunable"))  # type: ignore[arg-type]
