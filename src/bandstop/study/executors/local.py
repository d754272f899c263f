"""Workers on this machine: processes with one thread each, that may die without the study."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from bandstop.study.execute import Task, TaskResult, execute

__all__ = ["LocalPool"]

_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


class LocalPool:
    """Up to ``workers`` processes; each takes a task at a time and is replaced when it dies."""

    put_back = 1
    """How often a run whose worker died is tried again."""

    def __init__(self, workers: int | None = None) -> None:
        self.slots = workers or os.cpu_count() or 1
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []

    def submit(self, task: Task) -> None:
        """Give a task to an idle worker, started if need be; at most ``slots`` tasks at a time."""
        while True:
            worker = next((w for w in self._workers if w.task is None), None) or self._start()
            try:
                worker.connection.send(task)
            except OSError:  # it died while idle
                self._bury(worker)
                continue
            worker.task = task
            return

    def wait(self, timeout: float) -> list[TaskResult]:
        """Outcomes that arrive within ``timeout`` seconds, at once if there are any."""
        busy = {w.connection: w for w in self._workers if w.task is not None}
        outcomes = []
        for ready in wait(list(busy), timeout):
            assert isinstance(ready, Connection)
            worker = busy[ready]
            task, worker.task = worker.task, None
            assert task is not None
            try:
                outcomes.append(ready.recv())
            except (EOFError, OSError):
                self._bury(worker)
                outcomes.append(
                    TaskResult(task.run, "lost", f"its worker died ({_death(worker.process.exitcode)})")
                )
        return outcomes

    def close(self) -> None:
        """End all workers; what they were training stays as its last checkpoint."""
        for worker in self._workers:
            worker.process.terminate()
        for worker in list(self._workers):
            self._bury(worker)

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        with _one_thread():
            process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours))
        return self._workers[-1]

    def _bury(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.join(10)
        if worker.process.exitcode is None:
            worker.process.kill()
            worker.process.join()


class _Worker:
    def __init__(self, process: Any, connection: Any) -> None:
        self.process, self.connection = process, connection
        self.task: Task | None = None


def _serve(connection: Any) -> None:
    """A worker's life: tasks in, outcomes out, until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the study, which then ends its workers
    threading.Thread(target=_die_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            connection.send(execute(connection.recv()))


def _die_with_parent() -> None:
    """A study that was killed leaves no worker behind that holds leases."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Numerical libraries read these when a process starts."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        with suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"
