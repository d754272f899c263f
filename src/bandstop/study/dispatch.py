"""Hands runs to workers, those that others need first, and keeps the results up to date."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bandstop.record.drop import dropped_text
from bandstop.record.folder import LOG
from bandstop.study.data import place_of
from bandstop.study.execute import Task, TaskResult
from bandstop.study.results import Results
from bandstop.study.runs import PlannedRun
from bandstop.study.study_folder import StudyFolder

__all__ = ["Dispatcher", "Executor", "Standing"]

BUSY_PAUSE = 2.0
"""Seconds before a run that another process holds is asked for again."""


class Executor(Protocol):
    """Where runs execute."""

    slots: int
    put_back: int

    def submit(self, task: Task) -> None:
        """Begin a task; at most ``slots`` at a time."""
        ...

    def wait(self, timeout: float) -> list[TaskResult]:
        """Outcomes, as soon as there are any."""
        ...

    def close(self) -> None:
        """Stop everything."""
        ...


@dataclass
class Standing:
    """How far a study is."""

    total: int
    epochs_total: int
    finished: int = 0
    epochs_done: float = 0.0
    failed: dict[str, str] = field(default_factory=dict)
    blocked: dict[str, str] = field(default_factory=dict)
    """Runs whose teacher failed, with the teacher's id."""
    running: dict[str, int] = field(default_factory=dict)
    """Runs under way, with their epoch."""
    dropped: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By data set, recordings that finished runs left out because they cannot be used."""


class Dispatcher:
    """Hands the runs of a study to workers; ``run()`` returns when nothing more can be done."""

    def __init__(
        self,
        folder: StudyFolder,
        runs: Sequence[PlannedRun],
        places: Mapping[str, str],
        executor: Executor,
        *,
        show: Callable[[Standing, str], None] = lambda standing, event: None,
        checkpoint_seconds: float = 20.0,
        parquet: bool = False,
    ) -> None:
        self.folder, self.places, self.executor, self.show = folder, places, executor, show
        self.checkpoint_seconds = checkpoint_seconds
        self.runs = {run.id: run for run in runs}
        self.results = Results(folder, runs, parquet=parquet)
        self.standing = Standing(total=len(runs), epochs_total=sum(run.config.epochs for run in runs))
        self._begun: set[str] = set()
        self._lost: dict[str, int] = {}
        self._not_before: dict[str, float] = {}
        awaited = {other for run in runs for other in run.needs}
        self._waiting = sorted(self.runs, key=lambda run: run not in awaited)

    def run(self) -> Standing:
        """Execute everything that is not finished; failures are recorded and do not stop the rest."""
        for run in list(self._waiting):
            reason = self.folder.failure(run)
            if self.folder.finished(run):
                self._finish(run)
            elif reason is not None:
                self._waiting.remove(run)
                self.standing.failed[run] = reason
        self.results.write()
        self._measure()
        self.show(self.standing, "")
        while self._waiting or self._begun:
            self._fill()
            if not self._waiting and not self._begun:
                break
            for outcome in self._outcomes():
                self._settle(outcome)
            self._measure()
            self.show(self.standing, "")
        self._measure()
        self.show(self.standing, "")
        return self.standing

    def _fill(self) -> None:
        """Give free slots to the runs all of whose needs are finished."""
        now = time.monotonic()
        for run in list(self._waiting):
            needed = self.runs[run].needs
            fallen = [other for other in needed if other in self.standing.failed]
            if fallen:
                self._waiting.remove(run)
                self.standing.blocked[run] = fallen[0]
            elif (
                len(self._begun) < self.executor.slots
                and self._not_before.get(run, 0.0) <= now
                and all(other in self.results for other in needed)
            ):
                self._waiting.remove(run)
                self._begun.add(run)
                self.executor.submit(self._task(self.runs[run]))

    def _outcomes(self) -> list[TaskResult]:
        if not self._begun:
            time.sleep(0.2)  # everything left is held by other processes
            return []
        return self.executor.wait(1.0)

    def _task(self, run: PlannedRun) -> Task:
        config = dataclasses.replace(run.config, data=place_of(run.config.data, self.places))
        others = tuple(str(self.folder.run(other).absolute()) for other in run.needs)
        if config.joined_from:
            config = dataclasses.replace(config, joined_from=others)
        elif others:
            config = dataclasses.replace(config, distill=dataclasses.replace(config.distill, teachers=others))
        return Task(str(self.folder.root.absolute()), run.id, config.to_json(), self.checkpoint_seconds)

    def _settle(self, outcome: TaskResult) -> None:
        run = outcome.run
        self._begun.discard(run)
        if outcome.kind == "finished" or self.folder.finished(run):
            known = dict(self.standing.dropped)
            self._finish(run)
            self.results.write()
            self._measure()
            for data, dropped in self.standing.dropped.items():
                if known.get(data) != dropped:
                    self.show(self.standing, f"{data}: {dropped_text(dropped)}")
            self.show(self.standing, self.results.line(run))
        elif outcome.kind == "busy":
            self._waiting.append(run)
            self._not_before[run] = time.monotonic() + BUSY_PAUSE
        elif outcome.kind == "lost" and self._lost.get(run, 0) < self.executor.put_back:
            self._lost[run] = self._lost.get(run, 0) + 1
            self._waiting.insert(0, run)
            self.show(self.standing, f"{run}: {outcome.reason}; put back")
        else:
            again = f" {self._lost[run] + 1} times" if outcome.kind == "lost" else ""
            self._fail(run, f"{outcome.reason}{again}", outcome.details)

    def _finish(self, run: str) -> None:
        if run in self._waiting:
            self._waiting.remove(run)
        self.folder.forget_failure(run)
        self.folder.drop_checkpoint(run)
        self.results.add(run)
        self.standing.finished += 1
        if dropped := self.results.rows[run].dropped:
            data = self.runs[run].axes.data
            self.standing.dropped[data] = tuple(
                dict.fromkeys([*self.standing.dropped.get(data, ()), *dropped])
            )

    def _fail(self, run: str, reason: str, details: str) -> None:
        self.folder.record_failure(run, reason, details or reason + "\n")
        self.standing.failed[run] = reason
        self.show(self.standing, f"{run}: failed: {reason}")

    def _measure(self) -> None:
        """Epochs done, from the runs' own logs: the same wherever they execute."""
        now = {run: self._epochs(run) for run in self._begun}
        self.standing.running = {run: epoch for run, epoch in now.items() if epoch}
        whole = sum(self.runs[run].config.epochs for run in self.runs if run in self.results)
        given_up = sum(
            self.runs[r].config.epochs
            for r in (*self.standing.failed, *self.standing.blocked)
            if r in self.runs
        )
        self.standing.epochs_done = whole + given_up + sum(now.values())

    def _epochs(self, run: str) -> int:
        try:
            return (self.folder.run(run) / LOG).read_bytes().count(b"\n")
        except FileNotFoundError:
            return 0
