"""Stream recognisers measured: detection, false alarms, overlap and delay.

    python benchmarks/live.py --out runs/live --write benchmarks/results/live.json

trains the recognisers (a finished folder is not trained again) and writes what the test streams gave, in
float32 and in the whole numbers of int16 and int8. Settings and the threshold were chosen on validation
streams of another ``--streams`` seed than the one that is measured. ``--data shrec:PATH`` and the like
measure the same code on streams joined from the test sequences of another data set, ``--data jackknife:PATH``
on continuous sessions.
"""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import tyro

from bandstop.deploy.export import ExportOptions, fixed_program
from bandstop.files import write_text
from bandstop.live import (
    LiveData,
    events_of,
    fit_live,
    live_config,
    load_live,
    load_live_data,
    look_at,
    measure_streams,
)
from bandstop.live.export import device_model
from bandstop.live.looks import window_signals
from bandstop.training.presets import starting_config


@dataclass(frozen=True)
class Options:
    """Which recognisers to train and where to write what they gave."""

    out: Path = Path("runs/live")
    """Folder of the runs."""
    write: Path | None = None
    """JSON file of the results; the rows of other data are kept."""
    data: str = "hands"
    """Data, named as for `bandstop train`."""
    called: str | None = None
    """Name of the data in the results."""
    rates: tuple[float, ...] = (0.98,)
    """Pruning rates; 0 is dense."""
    seeds: tuple[int, ...] = (10, 11, 12)
    """Seeds of training."""
    streams: int = 7
    """Seed of the streams. Settings were chosen with seed 0."""
    epochs: int = 60
    """Epochs of each training."""
    false_alarms: float = 1.0
    """False alarms a minute that the threshold is chosen for."""
    frames_per_second: float = 30.0
    """Rate of the recordings."""
    preset: str = "empirical"
    """Preset of the trainings; free latents were the default when most rows were made."""
    fixed_point: bool = False
    """Also measure int16 and int8."""


def in_whole_numbers(folder: Path, data: LiveData) -> dict[str, dict[str, float]]:
    """What the test streams give in fixed point, scaled on windows of a validation stream."""
    live, found = load_live(folder), {}
    plan, rule = live.settings.plan, live.settings.rule
    inputs = window_signals(live.recogniser, data.validation[0], plan)[1].numpy()
    for number in ("int16", "int8"):
        options = ExportOptions(number=number)  # type: ignore[arg-type]
        scorer = fixed_program(device_model(live), options, inputs)
        looks = [look_at(live.recogniser, stream, plan, scorer=scorer) for stream in data.test]
        found[number] = measure_streams(data.test, [events_of(one, rule) for one in looks]).as_dict()
    return found


def measure(options: Options) -> list[dict[str, Any]]:
    """A row for each rate: every seed's figures and their means."""
    data = load_live_data(options.data, seed=options.streams, frames_per_second=options.frames_per_second)
    name = options.called or options.data.split(":")[0]
    rows = []
    for rate in options.rates:
        runs = []
        for seed in options.seeds:
            usual = starting_config(options.preset)
            usual = replace(usual, data=options.data, seed=seed, epochs=options.epochs)
            config = replace(live_config(usual), **({"rate": rate} if rate else {"method": "dense"}))
            folder = options.out / f"{name}-{round(1000 * rate)}-s{seed}-e{options.epochs}"
            found = fit_live(config, data, folder, false_alarms=options.false_alarms, resume=folder.is_dir())
            judged = found.test if found.test is not None else found.calibrated.measures
            runs.append(
                {
                    "seed": seed,
                    "threshold": found.calibrated.rule.threshold,
                    "met": found.calibrated.met,
                    "connections": found.metrics.weights_kept,
                    "seconds": found.metrics.seconds,
                    "validation": found.calibrated.measures.as_dict(),
                    "test": judged.as_dict(),
                    **({"fixed_point": in_whole_numbers(folder, data)} if options.fixed_point else {}),
                }
            )
            print(name, rate, runs[-1], file=sys.stderr, flush=True)
        keys = runs[0]["test"].keys()
        averages = {key: round(mean(run["test"][key] for run in runs), 4) for key in keys}
        rows.append(
            {
                "data": name,
                "rate": rate,
                "epochs": options.epochs,
                "streams": options.streams,
                "false_alarms_asked": options.false_alarms,
                "frames_per_second": options.frames_per_second,
                "test": averages,
                "runs": runs,
                "judged_on": "test streams" if data.test else "validation streams",
            }
        )
    return rows


def main() -> None:
    """Measure, and merge the rows into the results."""
    options = tyro.cli(Options)
    rows = measure(options)
    if options.write is None:
        print(json.dumps(rows, indent=1))
        return
    old = json.loads(options.write.read_text(encoding="utf-8"))["rows"] if options.write.is_file() else []
    new = {(row["data"], row["rate"]) for row in rows}
    merged = [row for row in old if (row["data"], row["rate"]) not in new] + rows
    merged.sort(key=lambda row: (not row["data"].startswith("hands"), row["data"], row["rate"]))
    machine = f"{platform.machine()} {platform.system()}"
    write_text(options.write, json.dumps({"machine": machine, "rows": merged}, indent=1) + "\n")


if __name__ == "__main__":
    main()
