"""Points of a training: recognisers of one size each, judged, with the module that the page tries."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bandstop.files import write_text
from bandstop.live.calibrate import Calibrated, calibrate
from bandstop.live.data import LiveData
from bandstop.live.export import export_live
from bandstop.live.fit import window_set
from bandstop.live.looks import look_at
from bandstop.live.projects import flash_of, live_library
from bandstop.live.recogniser import read_live_settings, save_live
from bandstop.method.budget import Budget
from bandstop.record.folder import MODEL
from bandstop.record.metrics import Metrics
from bandstop.training.extract import extract_run
from bandstop.training.model_file import load_recogniser, save_recogniser

__all__ = ["POINT", "RATES", "describe_point", "extract_point", "read_points", "wilson"]

POINT = "point.json"
RATES = (0.5, 0.75, 0.88, 0.94, 0.97, 0.985, 0.99)
"""Rates at which a training for many budgets is judged: each about half the size of the one before."""


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


def _without_nan(figures: dict[str, float]) -> dict[str, float | None]:
    """Figures for a browser, whose JSON has no not-a-number (the delay where nothing was found).

    >>> _without_nan({"delay_frames": float("nan"), "gestures": 12.0})
    {'delay_frames': None, 'gestures': 12.0}
    """
    return {name: None if math.isnan(value) else value for name, value in figures.items()}


def check_stream(data: LiveData) -> Any:
    """Frames on which exports are compared with Python."""
    return max(data.validation, key=len).joints[:3000]


def describe_point(name: str, run: Path, data: LiveData, found: Calibrated, metrics: Metrics) -> None:
    """Make the module of a run, measure its flash, and say in `point.json` what is known of it."""
    frames = check_stream(data)
    exported = export_live(run, "wasm", run / "export", frames=frames)
    library, report = live_library(run, frames=frames)
    measures, memory = found.measures, flash_of(library)
    low, high = wilson(measures.detection_rate, measures.gestures)
    known = {
        "name": name,
        "rate": metrics.rate_observed,
        "weights_kept": metrics.weights_kept,
        "weights_total": metrics.weights_total,
        "flash": memory.flash,
        "ram": report["state_bytes"],
        "wasm": exported["files"]["recogniser_live.wasm"],
        "measures": _without_nan(measures.as_dict()),
        "detection_interval": [round(low, 4), round(high, 4)],
        "threshold": found.rule.threshold,
        "met": found.met,
    }
    write_text(run / POINT, json.dumps(known, indent=1))


def extract_point(parent: Path, rate: float, out: Path, data: LiveData, *, false_alarms: float) -> None:
    """Take a rate out of a training for many, choose its threshold, describe it; done before is kept."""
    if (out / POINT).is_file():
        return
    shutil.rmtree(out, ignore_errors=True)
    settings, seed = read_live_settings(parent), load_recogniser(parent).config.seed
    windows = window_set(data, settings.plan, seed=seed)
    metrics = extract_run(parent, Budget.rate(rate), out, sequences=windows)
    recogniser = load_recogniser(out)
    looks = [look_at(recogniser, stream, settings.plan) for stream in data.validation]
    found = calibrate(looks, data.validation, settings.plan, settings.rule, false_alarms=false_alarms)
    chosen = replace(settings, rule=found.rule, met=found.met, validation=found.measures.as_dict())
    save_live(chosen, out)
    save_recogniser(replace(recogniser, rejection=found.rejection), out / MODEL)
    describe_point(out.name, out, data, found, metrics)


def read_points(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """What is known of the points in ``folders``, the smallest first; those not finished are left out."""
    files = [folder / POINT for folder in folders if (folder / POINT).is_file()]
    found: list[dict[str, Any]] = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return sorted(found, key=lambda point: (point["flash"], point["weights_kept"]))
