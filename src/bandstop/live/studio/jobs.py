"""Trainings of a project: one at a time, each in a process of its own, stopped and taken up again at will."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bandstop.errors import ConfigError
from bandstop.files import write_text
from bandstop.live.studio.worker import JOB, OUTCOME, Job, read_job

__all__ = ["Trainings"]

_SHOWN = ("epoch", "loss", "train_accuracy", "kept", "rate", "seconds")


class Trainings:
    """The trainings below ``folder``: 1, 2, … each with `job.json`, `run/` and `outcome.json`."""

    def __init__(self, folder: Path, recordings: Path) -> None:
        self.folder, self.recordings = folder, recordings
        self._process: subprocess.Popen[bytes] | None = None
        self._number = 0

    def numbers(self) -> list[int]:
        """Numbers of all trainings, in order."""
        names = [p.name for p in self.folder.glob("*") if p.name.isdigit()] if self.folder.is_dir() else []
        return sorted(map(int, names))

    def place(self, number: int) -> Path:
        """Folder of a training."""
        return self.folder / f"{number}"

    def run_folder(self, number: int) -> Path:
        """Run folder of a training."""
        return self.place(number) / "run"

    @property
    def running(self) -> int | None:
        """The number of the training under way."""
        return self._number if self._process is not None and self._process.poll() is None else None

    def start(self, settings: dict[str, Any]) -> int:
        """Begin a new training."""
        self._refuse_second()
        number = (self.numbers() or [0])[-1] + 1
        job = replace(
            Job(str(self.recordings), str(self.run_folder(number)), epochs=80), **_settings(settings)
        )
        place = self.place(number)
        place.mkdir(parents=True)
        write_text(place / JOB, json.dumps(asdict(job), indent=1))
        self._spawn(number)
        return number

    def resume(self, number: int) -> int:
        """Go on with a training that was stopped."""
        self._refuse_second()
        if not (self.place(number) / JOB).is_file():
            raise ConfigError(f"there is no training {number}")
        (self.place(number) / OUTCOME).unlink(missing_ok=True)
        self._spawn(number)
        return number

    def cancel(self) -> None:
        """Stop the training under way; its last checkpoint stays."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=10)
            if self._process.poll() is None:
                self._process.kill()

    def _refuse_second(self) -> None:
        if self.running is not None:
            raise ConfigError("a training is under way; stop it before another begins")

    def _spawn(self, number: int) -> None:
        place = self.place(number)
        command = [sys.executable, "-m", "bandstop.live.studio.worker", str(place / JOB)]
        with (place / "worker.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._number = number

    def progress(self, number: int, after: int = 0) -> dict[str, Any]:
        """State of a training and the epochs of its log after the first ``after``."""
        place = self.place(number)
        rows = _rows(self.run_folder(number) / "log.jsonl")
        job = read_job(place / JOB)
        state, outcome = "stopped", {}
        if self.running == number:
            state = "running"
        elif (place / OUTCOME).is_file():
            outcome = json.loads((place / OUTCOME).read_text(encoding="utf-8"))
            state = outcome["state"]
        return {
            "number": number,
            "state": state,
            "epochs": job.epochs,
            "done": len(rows),
            "rows": rows[after:],
            "outcome": outcome,
            "job": {key: value for key, value in asdict(job).items() if key not in ("recordings", "out")},
        }

    def latest_done(self) -> int | None:
        """The newest training that came to its end."""
        done = [n for n in self.numbers() if self.progress(n)["state"] == "done"]
        return done[-1] if done else None


def _settings(asked: dict[str, Any]) -> dict[str, Any]:
    """The settings of a job that the page may choose, checked."""
    allowed = {"rate": float, "bytes": int, "epochs": int, "false_alarms": float, "seed": int}
    unknown = sorted(set(asked) - set(allowed))
    if unknown:
        raise ConfigError(f"a training has no setting {unknown[0]!r}")
    try:
        found = {key: allowed[key](value) for key, value in asked.items() if value is not None}
    except (TypeError, ValueError):
        raise ConfigError(f"settings of a training are numbers, found {asked}") from None
    if "bytes" in found:
        found["rate"] = None
    return found


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    with suppress(OSError):
        for line in path.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError):  # the last line may be half written
                row = json.loads(line)
                rows.append({key: row.get(key) for key in _SHOWN})
    return rows
