"""Processes forked off one that has everything loaded: thousands of starts, and none waits for PyTorch."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torture.case import plain_sentence

__all__ = ["Child", "Ended", "bandstop", "load_everything", "refusal_problem"]

PATIENCE = 300.0
"""Seconds after which a process counts as hung, on a busy machine too."""


@dataclass(frozen=True)
class Ended:
    """How a process ended: exit code (negative: the signal), what it printed, what it handed back."""

    code: int
    out: str
    err: str
    seconds: float
    value: Any = None

    @property
    def killed(self) -> bool:
        """Whether a signal ended it."""
        return self.code < 0


class Child:
    """``work`` in a forked process whose words go to files in ``scratch``; its value must be JSON."""

    def __init__(
        self, work: Callable[[], Any], scratch: Path, *, prepare: Callable[[], object] | None = None
    ):
        scratch.mkdir(parents=True, exist_ok=True)
        self.scratch, self.began = scratch, time.monotonic()
        self._name = f"{time.monotonic_ns():x}"
        self._code: int | None = None
        for kind in ("out", "err"):  # here: a child that is killed at once has none
            self._file(kind).touch()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            self._be(work, prepare)

    def _be(self, work: Callable[[], Any], prepare: Callable[[], object] | None) -> None:
        """The child's whole life."""
        code = 1
        try:
            for number, kind in ((1, "out"), (2, "err")):
                os.dup2(os.open(self._file(kind), os.O_WRONLY), number)
            sys.stdout, sys.stderr = (os.fdopen(n, "w", encoding="utf-8", closefd=False) for n in (1, 2))
            os.environ["TMPDIR"] = str(self.scratch)
            import tempfile

            tempfile.tempdir = None
            value = self._file("value")
            if prepare is not None:
                prepare()
            made = work()
            code = made if isinstance(made, int) else 0
            if not isinstance(made, int):
                value.write_text(json.dumps(made), encoding="utf-8")
        except SystemExit as problem:
            code = problem.code if isinstance(problem.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def _file(self, kind: str) -> Path:
        return self.scratch / f"{self._name}.{kind}"

    def alive(self) -> bool:
        """Whether it is still at work."""
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code is None

    def kill(self, number: int = signal.SIGKILL) -> bool:
        """End it now; false if it had ended already."""
        if not self.alive():
            return False
        os.kill(self.pid, number)
        return True

    def wait(self, seconds: float = PATIENCE) -> Ended:
        """Its end; one that hangs is killed with exit code -9 and says so."""
        hung = ""
        while self.alive():
            if time.monotonic() - self.began > seconds:
                self.kill()
                hung = f"hung for {seconds:g} s"
            time.sleep(0.003)
        assert self._code is not None
        texts = [self._file(k).read_text("utf-8", "backslashreplace") for k in ("out", "err")]
        value = self._file("value")
        found = json.loads(value.read_text("utf-8")) if value.is_file() and not self._code else None
        for kind in ("out", "err", "value"):
            self._file(kind).unlink(missing_ok=True)
        spent = time.monotonic() - self.began
        return Ended(self._code, texts[0], texts[1] + hung, spent, found)


def load_everything() -> None:
    """Import what the commands import when they run, so that forked processes have it."""
    names = (
        "bench",
        "convert",
        "evaluate",
        "export",
        "extract",
        "live",
        "predict",
        "report",
        "study",
        "train",
    )
    verbs = [f"cli.{name}" for name in (*names, "show", "deploy_run")]
    rooms = ["deploy.export", "live.fit", "live.export", "report.page", "report.figure", "training.run"]
    for name in (*verbs, *rooms, "training.extract", "training.progress"):
        importlib.import_module(f"bandstop.{name}")


def bandstop(
    words: Sequence[str | Path],
    scratch: Path,
    *,
    prepare: Callable[[], object] | None = None,
    file_bytes: int | None = None,
) -> Child:
    """The command line in a process of its own; with ``file_bytes`` its files may not grow beyond that."""

    def work() -> int:
        from bandstop.cli import main

        if file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
        return main([str(word) for word in words])

    return Child(work, scratch, prepare=prepare)


def refusal_problem(ended: Ended) -> str:
    """What is wrong with how a refused command ended; nothing if it said one sentence and exit code 2."""
    said = ended.err.strip("\n").splitlines()
    words = "\n".join(line for line in said if not line.startswith("note:"))
    if ended.killed:
        return f"ended by signal {-ended.code}: {ended.err[-300:]}"
    if ended.code != 2:
        return f"exit code {ended.code}: {ended.err[-500:]}"
    problem = plain_sentence(words)
    return f"its refusal {problem}: {words[-500:]}" if problem else ""
