"""One run of a study, on any worker: under a lease, resumed if begun, a failure turned into words."""

from __future__ import annotations

import functools
import shutil
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from bandstop.errors import BandstopError
from bandstop.files import write_text
from bandstop.record.folder import CHECKPOINT, CONFIG
from bandstop.record.reading import Reading
from bandstop.skeleton import SequenceSet, load
from bandstop.study.study_folder import StudyFolder, lease, note
from bandstop.training.config import RunConfig
from bandstop.training.join import join_runs
from bandstop.training.run import train_run

__all__ = ["Task", "TaskResult", "execute"]


@dataclass(frozen=True)
class Task:
    """What a worker is given: only texts and numbers, so that it travels anywhere."""

    root: str
    """The study's folder."""
    run: str
    config: str
    """The run's config as JSON, with places filled in."""
    checkpoint_seconds: float = 20.0


@dataclass(frozen=True)
class TaskResult:
    """What became of a task."""

    run: str
    kind: Literal["finished", "failed", "busy", "lost"]
    """``busy``: another process holds the run; ``lost``: the worker died."""
    reason: str = ""
    details: str = ""


def execute(task: Task) -> TaskResult:
    """Train the task's run, or find that it is finished already; never raises for what a run can do wrong."""
    study = StudyFolder(Path(task.root))
    with lease(study.root, task.run) as mine:
        if study.finished(task.run):
            return TaskResult(task.run, "finished")
        if not mine:
            return TaskResult(task.run, "busy")
        folder = study.run(task.run)
        try:
            config = RunConfig.from_json(task.config)
            _prepare(folder, config)
            note(study.root, task.run, "began", resumed=(folder / CHECKPOINT).is_file())
            _carry_out(config, folder, task.checkpoint_seconds)
        except Exception as error:
            note(study.root, task.run, "failed")
            return TaskResult(task.run, "failed", _sentence(error), traceback.format_exc())
        note(study.root, task.run, "finished")
    return TaskResult(task.run, "finished")


def _carry_out(config: RunConfig, folder: Path, checkpoint_seconds: float) -> None:
    sequences = _load(config.data, config.reading)
    if config.joined_from:
        runs = [Path(run) for run in config.joined_from]
        join_runs(runs, folder, data=config.data, seed=config.seed, sequences=sequences)
        return
    resume = (folder / CONFIG).is_file()
    train_run(config, folder, resume=resume, sequences=sequences, checkpoint_seconds=checkpoint_seconds)


def _prepare(folder: Path, config: RunConfig) -> None:
    """Make an interrupted run's folder one that can be taken up.

    A process killed before it wrote the config leaves nothing of worth; one whose study or data were moved
    since knows old places (its id vouches for everything else). A join is done again.
    """
    if not folder.is_dir():
        return
    stored = folder / CONFIG
    if config.joined_from or not stored.is_file():
        shutil.rmtree(folder)
    else:
        known = RunConfig.from_json(stored.read_text(encoding="utf-8"))
        write_text(stored, replace(known, data=config.data, distill=config.distill).to_json())


@functools.lru_cache(maxsize=8)
def _load(spec: str, reading: Reading) -> SequenceSet:
    """A worker reads each data set once."""
    return load(spec, reading)


def _sentence(error: Exception) -> str:
    if isinstance(error, BandstopError):
        return str(error)
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
