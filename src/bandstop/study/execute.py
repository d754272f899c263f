"""One run of a study, executed wherever a worker is: under a lease, resumed if begun, its failure turned into words."""

from __future__ import annotations

import functools
import shutil
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bandstop.errors import BandstopError
from bandstop.files import write_text
from bandstop.skeleton import SequenceSet, load
from bandstop.study.folder import StudyFolder, lease, note
from bandstop.training.config import RunConfig
from bandstop.training.folder import CHECKPOINT, CONFIG
from bandstop.training.run import train_run

__all__ = ["Outcome", "Task", "execute"]


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
class Outcome:
    """What became of a task."""

    run: str
    kind: Literal["finished", "failed", "busy", "lost"]
    """``busy``: another process holds the run; ``lost``: the worker died."""
    reason: str = ""
    details: str = ""


def execute(task: Task) -> Outcome:
    """Train the task's run, or find that it is finished already; never raises for what a run can do wrong."""
    study = StudyFolder(Path(task.root))
    with lease(study.root, task.run) as mine:
        if study.finished(task.run):
            return Outcome(task.run, "finished")
        if not mine:
            return Outcome(task.run, "busy")
        folder = study.run(task.run)
        try:
            config = RunConfig.from_json(task.config)
            _prepare(folder, config)
            note(study.root, task.run, "began", resumed=(folder / CHECKPOINT).is_file())
            sequences = _load(config.data)
            train_run(
                config, folder, resume=True, sequences=sequences, checkpoint_seconds=task.checkpoint_seconds
            )
        except Exception as error:
            note(study.root, task.run, "failed")
            return Outcome(task.run, "failed", _sentence(error), traceback.format_exc())
        note(study.root, task.run, "finished")
    return Outcome(task.run, "finished")


def _prepare(folder: Path, config: RunConfig) -> None:
    """Make an interrupted run's folder one that can be taken up.

    A process killed before it wrote the config leaves nothing of worth; one whose study or data were moved since knows
    old places (its id vouches for everything else).
    """
    if not folder.is_dir():
        return
    stored = folder / CONFIG
    if not stored.is_file():
        shutil.rmtree(folder)
    elif RunConfig.from_json(stored.read_text(encoding="utf-8")) != config:
        write_text(stored, config.to_json())


@functools.lru_cache(maxsize=8)
def _load(spec: str) -> SequenceSet:
    """A worker reads each data set once."""
    return load(spec)


def _sentence(error: Exception) -> str:
    if isinstance(error, BandstopError):
        return str(error)
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
