"""Pruning libraries side by side: `python benchmarks/libraries.py [--task digits|text] [--page]`.

Every library trains the digits CNN and the character transformer of examples/ from the same random weights
for the same number of steps, with settings chosen among six trials on a validation part at 98 %, and is then
judged once on the test part at each rate with three seeds. Results go to benchmarks/results/libraries.json
after every run, so that a stopped comparison goes on where it was; docs/libraries.md is made from them. The
libraries live in an environment outside of this tree (~/.cache/bandstop/libraries), made on first use from
benchmarks/library_rivals/requirements.txt.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from libraries_page import PAGE, page

from bandstop.files import write_text

HERE = Path(__file__).parent
RIVALS = HERE / "library_rivals"
RESULTS = HERE / "results" / "libraries.json"
PLACE = Path.home() / ".cache" / "bandstop" / "libraries"
LIBRARIES = (
    "dense",
    "bandstop",
    "torchao PAT, rate",
    "torch.nn.utils.prune",
    "NNCF magnitude",
    "NNCF RB",
    "torch.ao.pruning",
    "torchao PAT, lasso",
)
RATES, SEEDS, TRIAL_RATE, TRIAL_SEED = (0.9, 0.95, 0.98, 0.99), (0, 1, 2), 0.98, 100
Job = dict[str, Any]


def environment() -> Path:
    """Python of the libraries' environment, made if needed."""
    python, ready = PLACE / "bin" / "python", PLACE / "ready"
    wanted = (RIVALS / "requirements.txt").read_text()
    if not ready.is_file() or ready.read_text() != wanted:
        venv.create(PLACE, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", RIVALS / "requirements.txt"], check=True)
        ready.write_text(wanted)
    return python


class Worker:
    """The process in the libraries' environment that does the jobs."""

    def __init__(self) -> None:
        paths = os.pathsep.join([str(HERE.parent / "src"), str(RIVALS)])
        self.process = subprocess.Popen(
            [environment(), RIVALS / "worker.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        )

    def __call__(self, job: Job) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("RESULT "):
                found: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
                return found
        raise SystemExit(
            f"the worker ended during {job}: run benchmarks/library_rivals/worker.py by hand to see why"
        )


@contextmanager
def results() -> Iterator[dict[str, Any]]:
    """The result file, read and written under a lock, so that two tasks can run side by side."""
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    with (PLACE.parent / "libraries.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
        before = json.dumps(found)
        yield found
        if json.dumps(found) != before:
            write_text(RESULTS, json.dumps(found, indent=0, sort_keys=True) + "\n")


def do(worker: Worker, job: Job) -> dict[str, Any]:
    """The job's result: from the file, or measured now and kept there."""
    key = json.dumps(job, sort_keys=True)
    with results() as found:
        if key in found:
            return dict(found[key])
    result = worker(job)
    print(key, {k: round(v, 3) if isinstance(v, float) else v for k, v in result.items()}, flush=True)
    with results() as found:
        found[key] = {**job, **result}
    return result


def chosen(worker: Worker, library: str, task: str, rate: float) -> dict[str, float]:
    """The best setting of the trials (for a library without a rate: the one that came nearest to it)."""
    about = do(worker, {"kind": "describe", "library": library})
    if "error" in about:
        return {}
    scores = []
    for setting in about["trials"]:
        job = {"kind": "trial", "task": task, "library": library, "rate": TRIAL_RATE, "setting": setting}
        run = do(worker, {**job, "seed": TRIAL_SEED})
        if "error" in run:
            return {}
        missed = abs(1 - run["kept"] / run["weights"] - rate)
        scores.append(-missed if about["by_rate"] else run["accuracy"])
    best: dict[str, float] = about["trials"][scores.index(max(scores))]
    return best


def compare(task: str) -> None:
    """All libraries on one task."""
    worker = Worker()
    for library in LIBRARIES:
        for rate in (0.0,) if library == "dense" else RATES:
            if setting := chosen(worker, library, task, rate):
                job = {"kind": "test", "task": task, "library": library, "rate": rate, "setting": setting}
                for seed in SEEDS:
                    do(worker, {**job, "seed": seed})
    for library in LIBRARIES:
        if setting := chosen(worker, library, task, TRIAL_RATE):
            do(
                worker,
                {"kind": "time", "task": task, "library": library, "rate": TRIAL_RATE, "setting": setting},
            )


def main() -> None:
    """Compare, then write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", choices=("digits", "text"), help="only this one (two can run side by side)")
    parser.add_argument("--page", action="store_true", help="only make docs/libraries.md from the results")
    asked = parser.parse_args()
    if not asked.page:
        for task in (asked.task,) if asked.task else ("digits", "text"):
            compare(task)
    with results() as found:
        write_text(PAGE, page(found))
    print(f"wrote {PAGE.relative_to(HERE.parent)}", file=sys.stderr)


if __name__ == "__main__":
    main()
