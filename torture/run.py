"""The order of events: groups one after the other, case by case, each noted as soon as it is done."""

from __future__ import annotations

import argparse
import importlib
import math
import shutil
import tempfile
import time
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

from torture.case import Case, Place, Result
from torture.child import load_everything
from torture.journal import Journal, tree_digest
from torture.samples import warm_up
from torture.summary import GROUPS, summary, summary_line

__all__ = ["main", "run_cases"]

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks" / "results" / "torture.json"
TELL_EVERY = 20.0
"""Seconds between lines of progress."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; the exit code is 1 if anything failed."""
    asked = _parser().parse_args(arguments)
    chosen = asked.groups or list(GROUPS)
    work = asked.work.resolve()
    tree = tree_digest(ROOT / "src", ROOT / "torture")
    journal = Journal(work / "journal.jsonl", seed=asked.seed, tree=tree, keep=asked.keep)
    planned = {
        group: list(importlib.import_module(f"torture.{group}").cases(asked.share)) for group in chosen
    }
    load_everything()
    warm_up()
    for cases in planned.values():
        run_cases(cases, journal, work, minutes=asked.minutes)
    found = summary(journal, planned, share=asked.share)
    if (asked.share == 1 and set(chosen) == set(GROUPS)) or asked.record:
        from bandstop.files import write_text

        write_text(RESULT, found.as_json())
        print(f"written: {RESULT.relative_to(ROOT)}")
    for failure in found.failures:
        print(f"failed: {failure}")
    for skipped in found.skipped:
        print(f"skipped: {skipped}")
    print(summary_line(found.groups))
    return 1 if found.failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], help=f"any of {', '.join(GROUPS)}")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other cases")
    parser.add_argument("--share", type=float, default=1.0, help="a smaller part of every group")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "torture", help="folder of the journal")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop a group after so long")
    parser.add_argument("--keep", action="store_true", help="keep results of other trees; the result says so")
    parser.add_argument("--record", action="store_true", help=f"write {RESULT.name} for a selection too")
    return parser


def run_cases(cases: Sequence[Case], journal: Journal, work: Path, *, minutes: float = math.inf) -> None:
    """Run the cases that the journal does not hold, for so long; plain lines say how far it is."""
    if not cases:
        return
    group, said = cases[0].group, 0.0
    _require_distinct(cases)
    done = sum(map(journal.done, cases))
    print(f"{group}: {len(cases)} cases, {done} done before", flush=True)
    shared = work / "shared" / journal.tree
    shared.mkdir(parents=True, exist_ok=True)
    tried, end = 0, time.monotonic() + 60 * minutes
    for case in cases:
        if journal.done(case) or time.monotonic() > end:
            continue
        began, tried = time.monotonic(), tried + 1
        result = _run(case, shared, journal.seed)
        journal.add(case, result, time.monotonic() - began)
        for failure in result.failures:
            print(f"  {failure}", flush=True)
        if time.monotonic() - said > TELL_EVERY:
            said = time.monotonic()
            print(f"  {_progress(cases, journal)}", flush=True)
    if tried:
        print(f"  {_progress(cases, journal)}", flush=True)


def _progress(cases: Sequence[Case], journal: Journal) -> str:
    lines = [line for case in cases if (line := journal.lines.get((case.group, case.name)))]
    failures, count = (sum(len(line["failures"]) for line in lines), sum(line["count"] for line in lines))
    return f"{len(lines)} of {len(cases)} cases, {count:,} tried, {failures} failures"


def _run(case: Case, shared: Path, seed: int) -> Result:
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    try:
        return case.run(Place(folder, shared, case.dice(seed)))
    except Exception:
        return Result(0, (f"{case.name}: the torture itself failed: {traceback.format_exc()[-1500:]}",))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _require_distinct(cases: Iterable[Case]) -> None:
    names = [case.name for case in cases]
    if len(set(names)) < len(names):
        raise ValueError(f"two cases of {next(iter(cases)).group} have one name")
