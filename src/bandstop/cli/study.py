"""`bandstop study`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from bandstop.cli.parse import Folder, parse
from bandstop.record.drop import dropped_text

if TYPE_CHECKING:
    from bandstop.study.dispatch import Standing
    from bandstop.study.runs import PlannedRun
    from bandstop.study.study_folder import StudyFolder

__all__ = ["Study", "main"]


@dataclass(frozen=True)
class Study:
    """Carry out a plan: a grid of data × method × prior × rate × seed, each run in a folder of its own.

    PLAN is a TOML file, or a shipped plan: main, paper-table-1, paper-table-2, paper-table-2-ablation,
    rivals, distilled, transfer, held, ablation, prior, prior-when, signal, frontier-choices, frontier-fpha,
    frontier-shrec, tuning. The same command again continues an interrupted study; finished runs are never
    repeated. The exit code is 1 if runs failed.

    Examples:
      bandstop study main --data fpha=fpha:~/FPHA --out studies/main
      bandstop study rivals --data fpha=fpha:~/FPHA --out studies/rivals --only rate=0.98 --only seed=0,1
      bandstop study mine.toml --out studies/mine --on ray:cluster.example:6379
      bandstop study ablation --data fpha=fpha:~/FPHA --out studies/ablation --dry-run
    """

    plan: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PLAN")]
    """Plan file, or name of a shipped plan."""
    out: Folder
    """Folder of the study."""
    data: Annotated[tuple[str, ...], tyro.conf.UseAppendAction, tyro.conf.arg(metavar="KEY=DATA")] = ()
    """Where a data set of the plan is, with DATA as for `bandstop train`; may be given several times."""
    on: Annotated[str, tyro.conf.arg(metavar="WHERE")] = "local"
    """Where runs execute: local, ray (the cluster that Ray finds, or a new one here) or ray:ADDRESS."""
    workers: int | None = None
    """Runs at a time; by default one per core."""
    only: Annotated[tuple[str, ...], tyro.conf.UseAppendAction, tyro.conf.arg(metavar="AXIS=VALUE,…")] = ()
    """Restrict to these values of an axis (data, method, variant, prior, rate, seed); teachers come along."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction, tyro.conf.arg(metavar="NAME=VALUE")] = ()
    """Override a setting of all runs, for instance epochs=20 or prune.kl=1."""
    reuse: Annotated[tuple[Path, ...], tyro.conf.UseAppendAction, tyro.conf.arg(metavar="FOLDER")] = ()
    """Take over finished runs of another study's folder where they are the same."""
    drop: Literal["unusable"] | None = None
    """Leave out recordings that cannot be used, in every run (as --set drop=unusable)."""
    retry: bool = False
    """Try failed runs again."""
    dry_run: bool = False
    """List the runs and what is known of each, and do nothing."""
    parquet: bool = False
    """Write results.parquet beside results.csv."""
    quiet: bool = False
    """Show nothing but the end."""
    checkpoint_seconds: float = 20.0
    """Save a checkpoint of each run about this often."""


def main(arguments: Sequence[str]) -> int:
    """Carry out the plan and say how it went."""
    asked = parse(Study, "study", arguments)

    from bandstop.study.conduct import conduct, make_executor
    from bandstop.study.plan import read_plan
    from bandstop.study.progress import StudyProgress
    from bandstop.study.runs import expand
    from bandstop.study.settings import parse_setting
    from bandstop.study.study_folder import StudyFolder

    plan, folder = read_plan(asked.plan), StudyFolder(asked.out)
    overrides = [parse_setting(text) for text in asked.set]
    overrides += [{"drop": asked.drop}] if asked.drop else []
    runs, remarks = expand(plan, overrides, asked.only)
    for remark in remarks:
        print(f"note: {remark}", file=sys.stderr)
    if asked.dry_run:
        print(_listing(folder, runs))
        return 0
    try:
        with StudyProgress(plan.name, quiet=asked.quiet) as show:
            standing = conduct(
                plan,
                runs,
                folder,
                lambda: make_executor(asked.on, asked.workers),
                show,
                data=asked.data,
                reuse=asked.reuse,
                retry=asked.retry,
                parquet=asked.parquet,
                checkpoint_seconds=asked.checkpoint_seconds,
            )
    except KeyboardInterrupt:
        print(f"bandstop: stopped; the same command continues the study in {asked.out}", file=sys.stderr)
        return 130
    print(_summary(standing, asked.out))
    return 1 if standing.failed else 0


def _listing(folder: StudyFolder, runs: Sequence[PlannedRun]) -> str:
    lines = []
    for run in runs:
        if folder.finished(run.id):
            state = "finished"
        elif reason := folder.failure(run.id):
            state = f"failed: {reason}"
        else:
            state = "begun" if folder.run(run.id).is_dir() else "to do"
        lines.append(f"{run.id}  {state}")
    done = sum(folder.finished(run.id) for run in runs)
    return "\n".join([*lines, f"{len(runs)} runs, {done} finished"])


def _summary(standing: Standing, out: Path) -> str:
    lines = [f"{standing.finished} of {standing.total} runs finished: {out / 'results.csv'}"]
    lines += [f"{data}: {dropped_text(dropped)}" for data, dropped in standing.dropped.items()]
    lines += [f"failed: {run}: {reason}" for run, reason in standing.failed.items()]
    if standing.failed:
        lines.append(f"tracebacks: {out / 'failures'}; --retry tries them again")
    if standing.blocked:
        lines.append(f"not run, because a teacher failed: {', '.join(standing.blocked)}")
    return "\n".join(lines)
