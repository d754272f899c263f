"""Workers on a Ray cluster; the study's folder and the data must be on storage that all nodes share."""

from __future__ import annotations

import logging
import socket
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from bandstop.errors import ConfigError, MissingExtra
from bandstop.study.execute import Task, TaskResult, execute

__all__ = ["RayCluster"]

_ALL = 1_000_000


class RayCluster:
    """One CPU a run. Without an address: the cluster that Ray finds, or a new one on this machine."""

    put_back = 3
    """How often a run whose worker died is tried again: nodes of a cluster come and go."""

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtra("ray", extra="ray") from None
        self._ray: Any = ray
        if address:
            _knock(address)
        own = (
            {"address": "local", "num_cpus": workers, "include_dashboard": False}
            if workers and not address
            else {}
        )
        options: dict[str, Any] = {"address": address} if address else own
        try:
            ray.init(**options, log_to_driver=False, logging_level=logging.ERROR, ignore_reinit_error=True)
        except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            said = (str(error).splitlines() or [""])[0]
            raise ConfigError(
                f"no Ray cluster answers at {address or 'this machine'} ({said}); see `ray status`"
            ) from None
        self.slots = workers or _ALL  # Ray queues what has no CPU yet, and so can ask for more nodes
        # Ray's own retries are off: the study puts a dead worker's run back, counts it and says so.
        self._remote = ray.remote(num_cpus=1, max_retries=0)(execute)
        self._tasks: dict[Any, Task] = {}

    def submit(self, task: Task) -> None:
        """Queue a task."""
        self._tasks[self._remote.remote(task)] = task

    def wait(self, timeout: float) -> list[TaskResult]:
        """Outcomes that arrive within ``timeout`` seconds, at once if there are any."""
        if not self._tasks:
            return []
        done, _ = self._ray.wait(list(self._tasks), num_returns=1, timeout=timeout)
        return [self._outcome(reference) for reference in done]

    def close(self) -> None:
        """Stop what is running and leave the cluster."""
        for reference in self._tasks:
            with suppress(Exception):
                self._ray.cancel(reference, force=True)
        self._ray.shutdown()

    def _outcome(self, reference: Any) -> TaskResult:
        task = self._tasks.pop(reference)
        try:
            found: TaskResult = self._ray.get(reference)
        except (
            self._ray.exceptions.RayTaskError
        ) as error:  # not the run's fault: the node could not even begin it
            return TaskResult(
                task.run, "failed", f"the Ray worker could not execute it ({_last_line(error)})", str(error)
            )
        except self._ray.exceptions.RayError as error:
            return TaskResult(task.run, "lost", f"its Ray worker died ({type(error).__name__})", str(error))
        return found


def _knock(address: str) -> None:
    """Refuse at once what Ray itself would try to reach for minutes."""
    place = urlsplit(address if "://" in address else f"//{address}")
    try:
        if place.hostname and place.port:
            socket.create_connection((place.hostname, place.port), timeout=10).close()
    except (OSError, ValueError) as error:
        raise ConfigError(f"no Ray cluster answers at {address} ({error}); see `ray status`") from None


def _last_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(error).__name__
