"""A training of the studio, in a process of its own: ``python -m bandstop.live.studio.worker JOB.json``.

It writes what the page wants to know beside the run: `log.jsonl` (training's own), a `point.json` for every
size that was judged, and at the end `outcome.json`. A killed worker leaves a checkpoint and the points that
it finished; the same job started again goes on from there.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bandstop.errors import BandstopError
from bandstop.files import write_text
from bandstop.live.data import joined_live
from bandstop.live.fit import fit_live, live_config
from bandstop.live.studio.points import POINT, RATES, describe_point, extract_point
from bandstop.record.folder import CONFIG
from bandstop.skeleton import load
from bandstop.training.config import RunConfig
from bandstop.training.presets import many_rates

__all__ = ["JOB", "ONLY", "OUTCOME", "POINTS", "Job", "main", "read_job"]

OUTCOME, JOB, POINTS = "outcome.json", "job.json", "points"
ONLY = "run"
"""Name of the only point of a training for one budget, whose folder is the run itself."""


@dataclass(frozen=True)
class Job:
    """What the page asked for: a rate, or bytes, or every rate at once (``many``)."""

    recordings: str
    out: str
    rate: float | None = 0.95
    bytes: int | None = None
    many: bool = False
    epochs: int = 80
    seed: int = 0
    false_alarms: float = 1.0

    @property
    def config(self) -> RunConfig:
        """The settings of the training; one for every rate is longer."""
        asked = RunConfig(data=self.recordings, epochs=self.epochs, seed=self.seed)
        if self.many:
            return live_config(many_rates(replace(asked, rates=f"{RATES[0]}:{RATES[-1]}")))
        return live_config(replace(asked, rate=self.rate, bytes=self.bytes))


def read_job(path: Path) -> Job:
    """A job from its file."""
    return Job(**json.loads(path.read_text(encoding="utf-8")))


def run(job: Job) -> dict[str, Any]:
    """Train, choose thresholds, and make what the page tries: one recogniser, or one of each size."""
    out, place = Path(job.out), Path(job.out).parent
    data = joined_live(load(job.recordings), seed=job.seed)
    resume = (out / CONFIG).is_file()
    result = fit_live(job.config, data, out, false_alarms=job.false_alarms, resume=resume)
    if job.many:
        for rate in reversed(RATES):
            folder = place / POINTS / f"{rate:.3f}"
            extract_point(out, rate, folder, data, false_alarms=job.false_alarms)
    elif not (out / POINT).is_file():
        describe_point(ONLY, out, data, result.calibrated, result.metrics)
    return {
        "state": "done",
        "class_names": list(result.metrics.class_names),
        "seconds": result.metrics.seconds,
    }


def main(arguments: list[str]) -> int:
    """Run the job and say in `outcome.json` how it ended."""
    path = Path(arguments[0])
    job = read_job(path)
    try:
        outcome, code = run(job), 0
    except BandstopError as error:
        outcome, code = {"state": "failed", "problem": str(error)}, 2
    except (OSError, MemoryError) as error:
        outcome, code = {"state": "failed", "problem": str(error) or "out of memory"}, 2
    write_text(path.parent / OUTCOME, json.dumps({**outcome, "job": asdict(job)}, indent=1))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
