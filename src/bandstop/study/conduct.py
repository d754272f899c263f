"""A study from a plan to its results: resolve, check the data, take over what exists, execute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bandstop.errors import ConfigError
from bandstop.study.data import data_fingerprint, folds_of, resolve_data
from bandstop.study.engine import Executor, Standing, Study
from bandstop.study.folder import StudyFolder
from bandstop.study.plan import Plan
from bandstop.study.runs import PlannedRun, expand
from bandstop.study.takeover import check_sources, take_over

__all__ = ["Conduct", "make_executor"]


def make_executor(where: str, workers: int | None) -> Executor:
    """``local``, ``ray`` or ``ray:ADDRESS``."""
    if workers is not None and workers < 1:
        raise ConfigError(f"--workers must be at least 1, found {workers}")
    kind, colon, address = where.partition(":")
    if where == "local":
        from bandstop.study.executors.local import LocalPool

        return LocalPool(workers)
    if kind == "ray" and (address or not colon):
        from bandstop.study.executors.ray import RayCluster

        return RayCluster(address or None, workers)
    raise ConfigError(f"--on must be local, ray or ray:ADDRESS, found {where!r}")


@dataclass(frozen=True)
class Conduct:
    """How a plan is carried out."""

    plan: Plan
    out: Path
    data: Sequence[str] = ()
    """``KEY=DATA`` for each data set of the plan."""
    overrides: Sequence[Mapping[str, Any]] = ()
    only: Sequence[str] = ()
    reuse: Sequence[Path] = ()
    retry: bool = False
    parquet: bool = False
    checkpoint_seconds: float = 20.0
    runs: list[PlannedRun] = field(init=False)
    remarks: list[str] = field(init=False)

    def __post_init__(self) -> None:
        runs, remarks = expand(self.plan, self.overrides, self.only)
        object.__setattr__(self, "runs", runs)
        object.__setattr__(self, "remarks", remarks)

    @property
    def folder(self) -> StudyFolder:
        """Where everything goes."""
        return StudyFolder(self.out)

    def places(self) -> dict[str, str]:
        """Where the data sets are."""
        keys = list(dict.fromkeys(run.axes.data for run in self.runs))
        known = [folds_of(data)[0] for grid in self.plan.grids for data in grid.data]
        return resolve_data(keys, self.plan.data, self.data, Path(self.plan.source).parent, known)

    def __call__(self, executor: Callable[[], Executor], show: Callable[[Standing, str], None]) -> Standing:
        """Carry the plan out; the executor is made only once everything else is known to be in order."""
        places, folder = self.places(), self.folder
        check_sources(self.reuse)
        folder.open(self.plan.name, self.plan.text)
        take_over(folder, self.runs)
        needed = {run.axes.data for run in self.runs if not folder.finished(run.id)}
        folder.check_data({key: data_fingerprint(places[key]) for key in sorted(needed)})
        if self.reuse:
            take_over(folder, self.runs, self.reuse)
        if self.retry:
            for run in self.runs:
                folder.forget_failure(run.id)
        workers = executor()
        try:
            return Study(
                folder,
                self.runs,
                places,
                workers,
                show=show,
                checkpoint_seconds=self.checkpoint_seconds,
                parquet=self.parquet,
            ).run()
        finally:
            workers.close()
