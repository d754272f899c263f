"""Showing how far a run is: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

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
        self.began = self.spoken = time.monotonic()

    def __enter__(self) -> Self:
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
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, row: dict[str, Any]) -> None:
        """Show an epoch's row of the log."""
        if self.quiet:
            return
        facts = (
            f"loss {row['loss']:.3f}  KL {_or_dash(row.get('kl'))}  train {row['train_accuracy']:5.1f} %  "
            f"rate {row['rate'] * 100:5.1f} %"
        )
        epoch = row["epoch"]
        if self.bar is not None:
            self.bar.update(self.task, completed=epoch, facts=facts)
        elif epoch == self.epochs or time.monotonic() - self.spoken > 5:
            self.spoken = time.monotonic()
            print(f"{self.title}: epoch {epoch}/{self.epochs}  {facts}", file=sys.stderr, flush=True)


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
