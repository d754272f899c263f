"""What lies in a run folder, by name."""

from __future__ import annotations

from pathlib import Path

from bandstop.errors import DataError
from bandstop.record.metrics import Metrics
from bandstop.record.typed_json import from_file

__all__ = ["CHECKPOINT", "CONFIG", "LATENTS", "LIVE", "LOG", "METRICS", "MODEL", "REPORT", "read_metrics"]

CONFIG = "config.json"
"""The resolved settings; written first."""
LOG = "log.jsonl"
"""One line per epoch."""
CHECKPOINT = "checkpoint.safetensors"
"""Everything that an interrupted run needs to go on; removed at the end."""
LATENTS = "latents.safetensors"
"""What any budget is extracted from, in a run that was trained for many rates."""
MODEL = "model.safetensors"
"""The finished recogniser."""
LIVE = "live.json"
"""Windows and decision rule, in a run that recognises in streams."""
METRICS = "metrics.json"
"""How good and how large it is; written last, so a folder with it is finished."""
REPORT = "report.html"
"""The page of pictures."""


def read_metrics(run: Path) -> Metrics:
    """The metrics of a finished run."""
    if not run.is_dir():
        hint = "give the folder of --out"
        raise DataError("a run folder is expected and there is none", path=run, hint=hint)
    return from_file(Metrics, run / METRICS)
