"""Showing how far a run is: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import Any, Self

__all__ = ["Progress"]


class Progress:
    """``with Progress("train", 400) as show: show(row)``; quiet when ``show`` is never called."""

    def __init__(self, title: str, epochs: int, *, quiet: bool = False) -> None:
        self.title, self.epochs, self.quiet = title, epochs, quiet
        self.bar: Any = None
        self.silence = logging.NullHandler()
        self.began = self.spoken = time.monotonic()

    def __enter__(self) -> Self:
        if self.quiet:
            logging.getLogger("bandstop").addHandler(self.silence)
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[facts]}"),
                TimeRemainingColumn(),
            )
            self.bar = Bar(*columns, console=Console(stderr=True))
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=self.epochs, facts="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.getLogger("bandstop").removeHandler(self.silence)
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, row: dict[str, Any]) -> None:
        """Show an epoch's row of the log."""
        if self.quiet:
            return
        facts = _facts(row)
        epoch = row["epoch"]
        if self.bar is not None:
            self.bar.update(self.task, completed=epoch, facts=facts)
        elif epoch == self.epochs or time.monotonic() - self.spoken > 5:
            self.spoken = time.monotonic()
            print(f"{self.title}: epoch {epoch}/{self.epochs}  {facts}", file=sys.stderr, flush=True)


def _facts(row: dict[str, Any]) -> str:
    """What is worth watching: the KL to the prior only where it is part of the loss.

    >>> row = {"loss": 1.5, "penalty": 0.0, "kl": 0.2, "train_accuracy": 50.0, "rate": 0.9}
    >>> _facts(row)
    'loss 1.500  train  50.0 %  rate  90.0 %'
    >>> _facts(row | {"penalty": 0.6, "validation_accuracy": 40.0})
    'loss 1.500  KL 0.200  train  50.0 %  validation  40.0 %  rate  90.0 %'
    """
    parts = [f"loss {row['loss']:.3f}"]
    if row["penalty"] and row.get("kl") is not None:
        parts.append(f"KL {row['kl']:.3f}")
    parts.append(f"train {row['train_accuracy']:5.1f} %")
    if row.get("validation_accuracy") is not None:
        parts.append(f"validation {row['validation_accuracy']:5.1f} %")
    return "  ".join([*parts, f"rate {row['rate'] * 100:5.1f} %"])
