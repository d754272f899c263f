"""One training for every budget beside a training for each: accuracy against the pruning rate, over seeds.

    python benchmarks/one_training.py --data fpha=PATH --data hands=hands --runs FOLDER --out benchmarks/results/one_training.json

Separate nets are trained at each rate with the default recipe. A multi-rate net is trained once, and every rate is extracted from
it, also rates between those. It can be interrupted: what the result file holds already is not done again.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from bandstop.budget import Budget
from bandstop.files import write_text
from bandstop.training.config import RunConfig
from bandstop.training.extract import extract_run
from bandstop.training.presets import many_rates
from bandstop.training.run import train_run

RATES = (0.8, 0.9, 0.95, 0.97, 0.98, 0.99)
BETWEEN = (0.85, 0.925, 0.985)
RANGE = "0.8:0.99"
SEEDS = (0, 1, 2)
PASSES = (3, 1)  # of a step; the first of three teaches the others
EPOCHS = {"fpha": 200, "hands": 80}


class Results:
    """The rows measured so far, in a file that is whole at any moment."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = json.loads(path.read_text())["rows"] if path.is_file() else []

    def has(self, **key: Any) -> bool:
        """Whether there is a row with these values."""
        return any(all(row.get(k) == v for k, v in key.items()) for row in self.rows)

    def add(self, metrics: dict[str, Any], **key: Any) -> None:
        """Keep what the page shows of a run."""
        kept = (
            "accuracy",
            "class_accuracy",
            "weights_total",
            "weights_kept",
            "weights_live",
            "seconds",
            "split",
        )
        self.rows.append({**key, **{name: metrics[name] for name in kept}})
        write_text(self.path, json.dumps({"rows": self.rows}, indent=1) + "\n")
        print(self.rows[-1], flush=True)


def separate(results: Results, name: str, base: RunConfig, runs: Path) -> None:
    """A net for each rate."""
    for rate in RATES:
        key = {"data": name, "kind": "separate", "epochs": base.epochs, "rate": rate, "seed": base.seed}
        if not results.has(**key):
            folder = runs / f"{name}-separate-{rate}-s{base.seed}"
            results.add(train_run(replace(base, rate=rate), folder, resume=True), **key)


def at_once(results: Results, name: str, base: RunConfig, runs: Path, passes: int) -> None:
    """One net, and every rate extracted from it."""
    config = many_rates(replace(base, rates=RANGE))
    config = replace(config, prune=replace(config.prune, passes=passes))
    kind = "at once" if passes == 1 else f"at once, {passes} passes"
    folder = runs / f"{name}-at-once-p{passes}-s{base.seed}"
    for rate in sorted((*RATES, *BETWEEN)):
        key = {
            "data": name,
            "kind": kind,
            "epochs": config.epochs,
            "rate": rate,
            "seed": base.seed,
        }
        if not results.has(**key):
            train_run(config, folder, resume=True)
            out = runs / f"{name}-at-once-p{passes}-{rate}-s{base.seed}"
            shutil.rmtree(out, ignore_errors=True)
            results.add(extract_run(folder, Budget.rate(rate), out), **key)


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", action="append", required=True, metavar="NAME=DATA")
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", choices=("separate", "at-once"))
    asked = parser.parse_args()
    results = Results(asked.out)
    for seed in SEEDS:
        for name, data in (spec.split("=", 1) for spec in asked.data):
            base = RunConfig(data=data, seed=seed, epochs=EPOCHS[name])
            if asked.only != "at-once":
                separate(results, name, base, asked.runs)
            if asked.only == "separate":
                continue
            for passes in PASSES:
                at_once(results, name, base, asked.runs, passes)


if __name__ == "__main__":
    main()
