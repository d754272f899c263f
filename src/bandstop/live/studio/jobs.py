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
from bandstop.live.studio.points import POINT, RATES, read_points
from bandstop.live.studio.worker import JOB, ONLY, OUTCOME, POINTS, Job, read_job

__all__ = ["Trainings"]

CHOICE = "choice.json"
"""Which of its points a training shows, where the user has chosen."""
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
        """Run folder of a training as it was trained."""
        return self.place(number) / ONLY

    def point_folder(self, number: int, name: str) -> Path:
        """Run folder of a point of a training; refused if there is none of this name."""
        folder = self.run_folder(number) if name == ONLY else self.place(number) / POINTS / name
        if name not in self._point_names(number) or not (folder / POINT).is_file():
            raise ConfigError(f"training {number} has no point {name[:80]!r}")
        return folder

    def _point_names(self, number: int) -> list[str]:
        points = self.place(number) / POINTS
        return [ONLY, *(sorted(p.name for p in points.iterdir()) if points.is_dir() else [])]

    def points(self, number: int) -> list[dict[str, Any]]:
        """What is known of the sizes of a training so far, the smallest first."""
        names = self._point_names(number)
        folders = [self.run_folder(number), *(self.place(number) / POINTS / name for name in names[1:])]
        return read_points(folders)

    def choose(self, number: int, name: str) -> None:
        """Remember which point is tried and taken away."""
        self.point_folder(number, name)
        write_text(self.place(number) / CHOICE, json.dumps({"point": name}))

    def chosen(self, number: int) -> str | None:
        """The chosen point; unless chosen, the smallest of those that find most gestures."""
        points = self.points(number)
        with suppress(OSError, ValueError, KeyError):
            name = json.loads((self.place(number) / CHOICE).read_text(encoding="utf-8"))["point"]
            if name in [point["name"] for point in points]:
                return str(name)
        best = max(points, key=lambda point: point["measures"]["detection_rate"], default=None)
        return None if best is None else str(best["name"])

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
        _ = job.config  # refuses settings that no training has, before anything is written
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
            "epochs": job.config.epochs,
            "points": self.points(number),
            "points_wanted": len(RATES) if job.many else 1,
            "point": self.chosen(number),
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
    allowed = {"rate": float, "bytes": int, "epochs": int, "false_alarms": float, "seed": int, "many": bool}
    unknown = sorted(set(asked) - set(allowed))
    if unknown:
        raise ConfigError(f"a training has no setting {unknown[0]!r}")
    try:
        found = {key: allowed[key](value) for key, value in asked.items() if value is not None}
    except (TypeError, ValueError):
        raise ConfigError(f"settings of a training are numbers, found {asked}") from None
    if "bytes" in found or found.get("many"):
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
