"""Counts what a process does to the files of a folder, and kills it right before the n-th time."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["FileChanges", "changed_paths"]

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def changed_paths(event: str, arguments: tuple[Any, ...]) -> tuple[object, ...]:
    """The paths that one of Python's audit events is about to change; none if it changes nothing.

    >>> changed_paths("os.rename", ("a", "b", -1, -1)), changed_paths("open", ("a", "r", os.O_RDONLY))
    (('a', 'b'), ())
    """
    if event == "open":
        flags = arguments[2]
        return (arguments[0],) if isinstance(flags, int) and flags & _WRITING else ()
    if event == "os.rename":
        return arguments[:2]
    if event in ("os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate"):
        return arguments[:1]
    return ()


class FileChanges:
    """Watches this process; with ``kill_at`` it ends by SIGKILL before the change of that number."""

    def __init__(self, folder: Path, *, kill_at: int | None = None) -> None:
        self.folder, self.kill_at, self.seen = str(folder.absolute()), kill_at, 0

    def watch(self) -> None:
        """From now on, until the process ends: an audit hook cannot be taken off."""
        sys.addaudithook(self._hook)

    def counting(self, work: Callable[[], int]) -> Callable[[], dict[str, int]]:
        """``work`` that hands back its exit code and how many changes it made."""

        def counted() -> dict[str, int]:
            self.watch()
            return {"code": work(), "changes": self.seen}

        return counted

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if any(map(self._inside, changed_paths(event, arguments))):
            self.seen += 1
            if self.seen == self.kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    def _inside(self, path: object) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        return os.path.abspath(os.fsdecode(path)).startswith(self.folder)  # noqa: PTH100 - links stay
