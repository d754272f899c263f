"""The folder of a study: what lies where, what failed and why, and who is at work on which run."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bandstop.errors import ConfigError, DataError
from bandstop.files import write_text
from bandstop.record.folder import CHECKPOINT, METRICS

__all__ = ["StudyFolder", "lease", "note"]


@dataclass(frozen=True)
class StudyFolder:
    """``runs/ID`` run folders, ``failures/ID.json`` and ``.txt``, ``leases/ID``, and the study's own files:
    ``results.csv``, ``journal.jsonl``, ``study.json``.
    """

    root: Path

    def run(self, run: str) -> Path:
        """A run's folder."""
        return self.root / "runs" / run

    def finished(self, run: str) -> bool:
        """A run is finished when its metrics are written, the last thing that a run does."""
        return (self.run(run) / METRICS).is_file()

    def failure(self, run: str) -> str | None:
        """Why a run failed; none if it did not."""
        try:
            return str(
                json.loads((self.root / "failures" / f"{run}.json").read_text(encoding="utf-8"))["reason"]
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            return "the record of its failure cannot be read"

    def record_failure(self, run: str, reason: str, details: str) -> None:
        """Keep the sentence and, beside it, the traceback."""
        write_text(self.root / "failures" / f"{run}.txt", details)
        write_text(
            self.root / "failures" / f"{run}.json", json.dumps({"run": run, "reason": reason}, indent=1)
        )

    def forget_failure(self, run: str) -> None:
        """Remove the record, before a run is tried again."""
        for suffix in (".json", ".txt"):
            with suppress(FileNotFoundError):
                (self.root / "failures" / f"{run}{suffix}").unlink()

    def drop_checkpoint(self, run: str) -> None:
        """A finished run needs none; one whose worker was killed right after its metrics still has it."""
        with suppress(FileNotFoundError):
            (self.run(run) / CHECKPOINT).unlink()

    def refuse_other(self, plan: str) -> dict[str, Any]:
        """Refuse a folder that holds anything but this plan's study; what its `study.json` says."""
        if self.root.exists() and not self.root.is_dir():
            raise ConfigError(f"{self.root} is a file: --out must name a folder")
        known = self._read()
        if not known and self.root.is_dir() and any(self.root.iterdir()):
            raise ConfigError(f"{self.root} is not empty and holds no study: choose another --out")
        if known and known.get("plan") != plan:
            raise ConfigError(
                f"{self.root} holds the study {known['plan']!r:.80}, this plan is called {plan!r}: "
                "choose another --out (--reuse takes finished runs over)"
            )
        return known

    def open(self, plan: str, text: str) -> None:
        """Make the folder this plan's, or take it up again; refuse one that holds anything else."""
        known = self.refuse_other(plan)
        self._write({"plan": plan, "data": known.get("data", {})})
        write_text(self.root / "plan.toml", text)

    def check_data(self, digests: dict[str, str]) -> None:
        """Remember what the data are, and refuse other data under the same key."""
        known = self._read()
        for key, found in digests.items():
            before = known["data"].setdefault(key, found)
            if before != found:
                problem = f"the data set {key} is not the one that this study began with"
                hashes = f"(hash {found}, before {before:.40})"
                raise DataError(
                    f"{problem} {hashes}", path=self.root, hint="give the same data or choose another --out"
                )
        self._write(known)

    @property
    def digests(self) -> dict[str, str]:
        """What the data sets were when their runs began."""
        return dict(self._read().get("data", {}))

    def _read(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.root / "study.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (ValueError, RecursionError) as error:
            raise DataError(f"not valid JSON ({error})", path=self.root / "study.json") from None
        data = found.get("data") if isinstance(found, dict) else None
        texts = [found.get("plan"), *data.values()] if isinstance(data, dict) else [None]
        if not all(isinstance(text, str) for text in texts):
            problem = "must be an object with the name of a plan and the hashes of its data"
            raise DataError(problem, path=self.root / "study.json", hint="restore the file")
        return found

    def _write(self, known: dict[str, Any]) -> None:
        write_text(self.root / "study.json", json.dumps(known, indent=1))


@contextmanager
def lease(root: Path, run: str) -> Iterator[bool]:
    """Hold a run for this process; false if another holds it. It is free again when its holder dies."""
    from filelock import FileLock, Timeout

    path = root / "leases" / run
    path.parent.mkdir(parents=True, exist_ok=True)
    held = FileLock(path)
    try:
        held.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        held.release()


def note(root: Path, run: str, event: str, **facts: Any) -> None:
    """Add a line to the study's journal: what happened to a run, where and when."""
    line = {
        "time": round(time.time(), 3),
        "run": run,
        "event": event,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        **facts,
    }
    with (root / "journal.jsonl").open("a", encoding="utf-8") as journal:
        journal.write(json.dumps(line) + "\n")
