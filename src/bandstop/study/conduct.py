"""A study from a plan to its results: check the data, take over what exists, execute the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bandstop.errors import ConfigError
from bandstop.study.data import data_set_digest, folds_of, name_as_read, resolve_data
from bandstop.study.dispatch import Dispatcher, Executor, Standing
from bandstop.study.plan import Plan
from bandstop.study.runs import PlannedRun
from bandstop.study.study_folder import StudyFolder
from bandstop.study.takeover import check_sources, take_over

__all__ = ["conduct", "make_executor"]


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


def conduct(
    plan: Plan,
    runs: Sequence[PlannedRun],
    folder: StudyFolder,
    executor: Callable[[], Executor],
    show: Callable[[Standing, str], None],
    *,
    data: Sequence[str] = (),
    reuse: Sequence[Path] = (),
    retry: bool = False,
    parquet: bool = False,
    checkpoint_seconds: float = 20.0,
) -> Standing:
    """Carry out ``runs`` of a plan in ``folder``; returns how the study stands when nothing more can be done.

    ``data`` holds ``KEY=DATA`` for each data set of the plan, ``reuse`` folders of other studies. The
    executor is made only once everything else is known to be in order.
    """
    places = _places(plan, runs, data)
    check_sources(reuse)
    folder.refuse_other(plan.name)
    take_over(folder, runs)
    digests = _digests([run for run in runs if not folder.finished(run.id)], places)
    # Not before the data were read: a study that cannot begin leaves nothing.
    folder.open(plan.name, plan.text)
    folder.check_data(digests)
    if reuse:
        take_over(folder, runs, reuse)
    if retry:
        for run in runs:
            folder.forget_failure(run.id)
    workers = executor()
    try:
        return Dispatcher(
            folder,
            runs,
            places,
            workers,
            show=show,
            checkpoint_seconds=checkpoint_seconds,
            parquet=parquet,
        ).run()
    finally:
        workers.close()


def _digests(runs: Sequence[PlannedRun], places: Mapping[str, str]) -> dict[str, str]:
    """What the data of ``runs`` are, as these read them."""
    read = {name_as_read(run.axes.data, run.config.reading): run for run in runs}
    return {
        name: data_set_digest(places[read[name].axes.data], read[name].config.reading)
        for name in sorted(read)
    }


def _places(plan: Plan, runs: Sequence[PlannedRun], data: Sequence[str]) -> dict[str, str]:
    """Where the data sets are."""
    keys = list(dict.fromkeys(run.axes.data for run in runs))
    known = [folds_of(name)[0] for grid in plan.grids for name in grid.data]
    return resolve_data(keys, plan.data, data, Path(plan.source).parent, known)
