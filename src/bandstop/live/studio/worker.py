"""A training of the studio, in a process of its own: ``python -m bandstop.live.studio.worker JOB.json``.

It writes what the page wants to know beside the run: `log.jsonl` (training's own), and at the end
`outcome.json`. A killed worker leaves a checkpoint; the same job started again goes on from there.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bandstop.errors import BandstopError
from bandstop.files import write_text
from bandstop.live.data import LiveData, joined_live
from bandstop.live.export import export_live
from bandstop.live.fit import LiveResult, fit_live, live_config
from bandstop.record.folder import CONFIG
from bandstop.skeleton import load
from bandstop.training.config import RunConfig

__all__ = ["JOB", "OUTCOME", "Job", "main", "read_job", "wilson"]

OUTCOME, JOB = "outcome.json", "job.json"


@dataclass(frozen=True)
class Job:
    """What the page asked for."""

    recordings: str
    out: str
    rate: float | None = 0.95
    bytes: int | None = None
    epochs: int = 80
    seed: int = 0
    false_alarms: float = 1.0


def read_job(path: Path) -> Job:
    """A job from its file."""
    return Job(**json.loads(path.read_text(encoding="utf-8")))


def wilson(found: float, count: int) -> tuple[float, float]:
    """The interval of 95 % for a share ``found`` of ``count`` trials (Wilson, 1927).

    >>> tuple(round(end, 3) for end in wilson(0.9, 100))
    (0.826, 0.945)
    """
    if count < 1:
        return 0.0, 1.0
    z2 = 1.96**2
    centre = (found + z2 / (2 * count)) / (1 + z2 / count)
    half = 1.96 * math.sqrt(found * (1 - found) / count + z2 / (4 * count**2)) / (1 + z2 / count)
    return max(0.0, centre - half), min(1.0, centre + half)


def _outcome(result: LiveResult, exported: dict[str, Any]) -> dict[str, Any]:
    measures = result.calibrated.measures
    low, high = wilson(measures.detection_rate, measures.gestures)
    return {
        "state": "done",
        "measures": measures.as_dict(),
        "detection_interval": [round(low, 4), round(high, 4)],
        "threshold": result.calibrated.rule.threshold,
        "met": result.calibrated.met,
        "class_names": list(result.metrics.class_names),
        "weights_kept": result.metrics.weights_kept,
        "weights_total": result.metrics.weights_total,
        "seconds": result.metrics.seconds,
        "export": exported,
    }


def _check_stream(data: LiveData) -> Any:
    longest = max(data.validation, key=len)
    return longest.joints[:3000]


def run(job: Job) -> dict[str, Any]:
    """Train, choose the threshold, make the WebAssembly module for the page."""
    out = Path(job.out)
    data = joined_live(load(job.recordings), seed=job.seed)
    config = live_config(
        RunConfig(data=job.recordings, rate=job.rate, bytes=job.bytes, epochs=job.epochs, seed=job.seed)
    )
    result = fit_live(config, data, out, false_alarms=job.false_alarms, resume=(out / CONFIG).is_file())
    exported = export_live(out, "wasm", out / "export", frames=_check_stream(data))
    return _outcome(result, exported)


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
