"""Studies whose workers and parent are killed at random: the same results, no run twice, no leftovers."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from torture.case import Case, Place, Result
from torture.compare import contents, difference
from torture.samples import data_file
from torture.stopped import GRID, study_words

__all__ = ["GROUP", "UNIT", "cases"]

GROUP, UNIT = "studies", "kills"
STUDIES, ROUNDS, PATIENCE = 4, 5, 600.0
OF_THE_MOMENT = ("journal.jsonl", "leases/", "plan.toml")
"""What tells of processes and times, not of results."""


def cases(share: float) -> Iterator[Case]:
    """Studies, each killed several times."""
    for number in range(max(1, round(share * STUDIES))):
        yield Case(GROUP, f"study {number}", _study(ROUNDS if share == 1 else 2))


def start(plan: Path, out: Path) -> subprocess.Popen[str]:
    """A study in processes of its own: its workers are started anew, not forked."""
    command = [sys.executable, "-m", "bandstop", *study_words(plan, out, workers=2)]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def results(out: Path) -> dict[str, bytes]:
    """What a study has found: every run's folder and the table."""
    found = contents(out)
    rows = list(csv.DictReader(io.StringIO(found.get("results.csv", b"").decode())))
    timeless = [{k: v for k, v in row.items() if "seconds" not in k} for row in rows]
    found["results.csv"] = json.dumps(timeless).encode()
    return {name: data for name, data in found.items() if not name.startswith(OF_THE_MOMENT)}


def whole(shared: Path) -> dict[str, bytes]:
    """A study that nobody kills."""
    out, plan = shared / "whole study", shared / "plan.toml"
    plan.write_text(GRID.format(data=data_file(shared)), encoding="utf-8")
    if not (out / "results.csv").is_file():
        shutil.rmtree(out, ignore_errors=True)
        process = start(plan, out)
        _, told = process.communicate(timeout=PATIENCE)
        if process.returncode:
            raise RuntimeError(f"a study fails without a kill: {told[-500:]}")
    return results(out)


def workers(pid: int) -> list[int]:
    """The processes that a study has started."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [int(word) for word in path.read_text("utf-8").split()]
    except OSError:
        return []


def _study(rounds: int) -> Callable[[Place], Result]:
    def run(place: Place) -> Result:
        wanted, out, kills = whole(place.shared), place.folder / "out", 0
        plan = place.shared / "plan.toml"
        for _ in range(rounds):
            process = start(plan, out)
            kills += _harass(process, out, place)
            if process.poll() is None and place.random.random() < 0.8:
                orphans = workers(process.pid)
                process.kill()
                kills += 1
                _wait_for(orphans)
            _, told = process.communicate(timeout=PATIENCE)
            if "Traceback" in told:
                return Result(kills, (f"a study that was killed: {told[-500:]}",))
        process = start(plan, out)
        said, told = process.communicate(timeout=PATIENCE)
        failures = _judge(process.returncode, said + told, out, wanted)
        return Result(kills, tuple(f"{failure} (after {kills} kills)" for failure in failures))

    return run


def _harass(process: subprocess.Popen[str], out: Path, place: Place) -> int:
    """Wait for runs to be under way, then kill a worker or none."""
    deadline = time.monotonic() + PATIENCE / 4
    before = _begun(out)
    while process.poll() is None and time.monotonic() < deadline and _begun(out) == before:
        time.sleep(0.05)
    time.sleep(place.random.random() * 3)
    found = workers(process.pid)
    if not found or process.poll() is not None or place.random.random() < 0.4:
        return 0
    try:
        os.kill(place.random.choice(found), signal.SIGKILL)
    except ProcessLookupError:
        return 0
    time.sleep(place.random.random() * 2)
    return 1


def _begun(out: Path) -> int:
    journal = out / "journal.jsonl"
    return journal.read_text("utf-8").count('"began"') if journal.is_file() else 0


def _wait_for(orphans: list[int]) -> None:
    """Workers of a killed study end by themselves."""
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in orphans) and time.monotonic() < deadline:
        time.sleep(0.05)


def _judge(code: int, words: str, out: Path, wanted: dict[str, bytes]) -> list[str]:
    if "Traceback" in words or code not in (0, 1):
        return [f"the study ends with {code}: {words[-500:]}"]
    if code == 1:
        words = words.replace("\n", " / ")
        return [f"runs failed: {words[-500:]}"]
    failures = [problem] if (problem := difference(results(out), wanted)) else []
    lines = (out / "journal.jsonl").read_text("utf-8").splitlines()
    ended = [e["run"] for e in map(json.loads, lines) if e["event"] == "finished"]
    if len(set(ended)) < len(ended):
        failures.append("a run was finished twice")
    return failures
