"""Showing how far a study is, with the time left: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

from bandstop.study.dispatch import Standing

__all__ = ["StudyProgress", "duration", "seconds_left"]


def seconds_left(done_before: float, done: float, total: float, elapsed: float) -> float | None:
    """Time left at the present speed; none before anything is done.

    >>> seconds_left(100, 150, 400, 10.0), seconds_left(0, 0, 400, 10.0)
    (50.0, None)
    """
    gained = done - done_before
    return None if gained <= 0 else (total - done) * elapsed / gained


def duration(seconds: float) -> str:
    """A length of time in words.

    >>> duration(42), duration(150), duration(7300)
    ('42 s', '2 min 30 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole < 600 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class StudyProgress:
    """``with StudyProgress("main") as show: show(standing, event)``."""

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        self.title, self.quiet = title, quiet
        self.bar: Any = None
        self.began = time.monotonic()
        self.at_first: float | None = None

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[facts]}"))
            self.bar = Progress(*columns, console=Console(stderr=True))
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=1, facts="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, standing: Standing, event: str) -> None:
        """Show the standing; an event also gets a line of its own."""
        if self.quiet:
            return
        if self.at_first is None:
            self.at_first = standing.epochs_done
        left = seconds_left(
            self.at_first, standing.epochs_done, standing.epochs_total, time.monotonic() - self.began
        )
        remaining = "" if left is None or left <= 0 else f", about {duration(left)} left"
        failed = f", {len(standing.failed)} failed" if standing.failed else ""
        facts = f"{standing.finished}/{standing.total} runs{failed}{remaining}"
        if self.bar is not None:
            if event:
                self.bar.console.print(event, highlight=False, markup=False)
            running = f", {len(standing.running)} running" if standing.running else ""
            self.bar.update(
                self.task, total=standing.epochs_total, completed=standing.epochs_done, facts=facts + running
            )
        elif event:
            print(f"{self.title}: {event} ({facts})", file=sys.stderr, flush=True)
