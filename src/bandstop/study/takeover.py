"""Finished work is kept: runs of other studies, and runs whose ids changed when a setting was added."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path

from bandstop.errors import BandstopError, DataError
from bandstop.record.folder import CONFIG
from bandstop.study.data import name_as_read
from bandstop.study.runs import PlannedRun, digest
from bandstop.study.study_folder import StudyFolder, lease, note
from bandstop.training.config import RunConfig

__all__ = ["check_sources", "take_over"]


def take_over(study: StudyFolder, runs: Sequence[PlannedRun], others: Sequence[Path] = ()) -> int:
    """Bring run folders whose stored config is that of a planned run under that run's id; returns how many.

    Folders of this study are renamed; finished ones of other studies, made with the same data, are copied.
    """
    sources = [StudyFolder(path) for path in others]
    planned = {run.id for run in runs}
    renamed: dict[str, str] = {}
    taken = 0
    for run in sorted(runs, key=lambda run: len(run.needs) > 0):
        if study.run(run.id).is_dir():
            continue
        for source in (study, *sources):
            found = _same_run(source, run, planned, renamed)
            if found is None:
                continue
            renamed[found.name] = run.id
            if source is study:
                found.rename(study.run(run.id))
            elif _same_data(study, source, run):
                with lease(study.root, run.id) as mine:
                    if mine:
                        _copy(found, study.run(run.id))
            else:
                continue
            note(study.root, run.id, "taken over", source=str(found))
            taken += 1
            break
    return taken


def check_sources(others: Sequence[Path]) -> None:
    """Refuse folders that hold no study."""
    for path in others:
        if not (path / "study.json").is_file():
            raise DataError("not the folder of a study, so there is nothing to reuse", path=path)


def _same_data(study: StudyFolder, source: StudyFolder, run: PlannedRun) -> bool:
    name = name_as_read(run.axes.data, run.config.reading)
    return study.digests.get(name, "?") == source.digests.get(name)


def _same_run(
    source: StudyFolder, run: PlannedRun, planned: set[str], renamed: dict[str, str]
) -> Path | None:
    slug, _, mark = run.id.rpartition("-")
    # Under the same name with settings added since, or with the same settings under another variant's name.
    for folder in sorted({*source.root.glob(f"runs/{slug}-????????"), *source.root.glob(f"runs/*-{mark}")}):
        others_own = folder.name in planned and folder.name != run.id
        try:
            stored = RunConfig.from_json((folder / CONFIG).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, BandstopError):
            continue
        teachers = tuple(renamed.get(Path(t).name, Path(t).name) for t in stored.distill.teachers)
        distill = dataclasses.replace(stored.distill, teachers=teachers)
        if not others_own and digest(
            dataclasses.replace(stored, data=run.config.data, distill=distill)
        ) == digest(run.config):
            return folder
    return None


def _copy(source: Path, target: Path) -> None:
    """Copy a finished run's folder so that it appears whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    made = target.parent / f".copy-{target.name}"
    shutil.rmtree(made, ignore_errors=True)  # left by a process that was killed
    shutil.copytree(source, made)
    made.rename(target)
