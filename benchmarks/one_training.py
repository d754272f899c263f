r"""One training for every budget beside a training for each: accuracy against the pruning rate, over seeds.

    python benchmarks/one_training.py --data fpha=PATH --data hands=hands --runs FOLDER \
        --out benchmarks/results/one_training.json
    python benchmarks/one_training.py --net tcn --data fpha=PATH --runs FOLDER --seeds 0 1 2 3 4 5 --trials \
        --out benchmarks/results/one_training_trials.json

Separate nets are trained at each rate with free latents (``--preset empirical``). A multi-rate net is trained
once, with latents held to the prior or free, and every rate is extracted from it, also rates between those.
It can be interrupted: what the result file holds already is not done again. With ``--trials`` the settings of
the sweep are tried on a held-out quarter of the training split, and the test split is not seen.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from bandstop.files import write_text
from bandstop.method.budget import Budget
from bandstop.nets.config import NetConfig
from bandstop.record.metrics import Metrics
from bandstop.training.config import RunConfig
from bandstop.training.extract import extract_run
from bandstop.training.presets import empirical, held, many_rates
from bandstop.training.run import train_run

RATES = (0.8, 0.9, 0.95, 0.97, 0.98, 0.99)
BETWEEN = (0.85, 0.925, 0.985)
RANGE = "0.8:0.99"
SEEDS = (0, 1, 2)
KINDS = ("at once, held", "at once, empirical")  # the second with the latents' own quantiles
EPOCHS = {"fpha": 200, "hands": 80}
TRIAL_EPOCHS = {"fpha": 150, "hands": 80}
TRIALS: dict[str, dict[str, float]] = {
    "as it is": {},
    "learning rate 0.5 of the usual": {"lr": 0.5},
    "learning rate 0.2": {"lr": 0.2},
    "lowest rate at 20 % of the training": {"sweep_from": 0.2},
    "average over 4 %": {"sweep_average": 0.04},
    "no average": {"sweep_average": 0.0},
    "no dropout": {"dropout": 0.0},
}
"""What was tried: learning rates relative to those of a training for one rate."""
COST = "processor.json"


class Results:
    """The rows measured so far, in a file that is whole at any moment."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = json.loads(path.read_text())["rows"] if path.is_file() else []

    def has(self, **key: Any) -> bool:
        """Whether there is a row with these values."""
        return any(all(row.get(k) == v for k, v in key.items()) for row in self.rows)

    def add(self, metrics: Metrics, **key: Any) -> None:
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
        self.rows.append({**key, **{name: getattr(metrics, name) for name in kept}})
        about = {"machine": platform.machine(), "torch": torch.__version__, "threads": 1}
        write_text(self.path, json.dumps({"about": about, "rows": self.rows}, indent=1) + "\n")
        print(self.rows[-1], flush=True)


def trained(config: RunConfig, folder: Path) -> tuple[Metrics, float]:
    """Metrics of the run in ``folder``, trained unless it is there,
    and the processor seconds that it took.
    """
    began = time.process_time()
    metrics = train_run(config, folder, resume=(folder / "config.json").is_file())
    if not (folder / COST).is_file():
        write_text(folder / COST, json.dumps(time.process_time() - began))
    return metrics, round(json.loads((folder / COST).read_text()), 2)


def separate(results: Results, name: str, base: RunConfig, runs: Path) -> None:
    """A net for each rate."""
    for rate in RATES:
        key = {"data": name, "kind": "separate", "epochs": base.epochs, "rate": rate, "seed": base.seed}
        if not results.has(**key):
            metrics, cost = trained(replace(base, rate=rate), runs / f"{name}-separate-{rate}-s{base.seed}")
            results.add(metrics, **key, processor_seconds=cost)


def changed(config: RunConfig, trial: dict[str, float]) -> RunConfig:
    """``config`` with the settings of a trial."""
    rest = dict(trial)
    if (lr := rest.pop("lr", None)) is not None:
        usual = RunConfig().optim
        optim = replace(config.optim, lr=lr * usual.lr, latent_lr=lr * usual.latent_lr)
        config = replace(config, optim=optim)
    if (dropout := rest.pop("dropout", None)) is not None:
        config = replace(config, net=replace(config.net, dropout=dropout))
    return replace(config, prune=replace(config.prune, **rest))  # type: ignore[arg-type]


def at_once(
    results: Results, name: str, base: RunConfig, runs: Path, kind: str, trial: str | None = None
) -> None:
    """One net, and every rate extracted from it."""
    word = kind.removeprefix("at once, ")
    ranged = (held if word == "held" else empirical)(replace(base, rates=RANGE))
    config = changed(many_rates(ranged), TRIALS[trial or "as it is"])
    tried = {} if trial is None else {"trial": trial}
    word += "" if trial is None else "-trial" + str(list(TRIALS).index(trial))
    folder = runs / f"{name}-at-once-{word}-s{base.seed}"
    for rate in sorted(RATES if trial else (*RATES, *BETWEEN)):
        key = {
            "data": name,
            "kind": kind,
            "epochs": config.epochs,
            "rate": rate,
            "seed": base.seed,
            **tried,
        }
        if not results.has(**key):
            _, cost = trained(config, folder)
            out = runs / f"{name}-at-once-{word}-{rate}-s{base.seed}"
            shutil.rmtree(out, ignore_errors=True)
            began = time.process_time()
            metrics = extract_run(folder, Budget.rate(rate), out)
            took = round(time.process_time() - began, 2)
            results.add(metrics, **key, processor_seconds=cost, extraction_seconds=took)


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", action="append", required=True, metavar="NAME=DATA")
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--net", choices=("gcn", "tcn"), default="gcn")
    parser.add_argument("--only", choices=("separate", "at-once"))
    parser.add_argument("--trials", nargs="*", choices=TRIALS, metavar="TRIAL")
    asked = parser.parse_args()
    results = Results(asked.out)
    for seed in asked.seeds:
        for name, data in (spec.split("=", 1) for spec in asked.data):
            usual = RunConfig(data=data, seed=seed, epochs=EPOCHS[name], net=NetConfig(kind=asked.net))
            base = empirical(usual)
            if asked.trials is not None:
                base = replace(base, epochs=TRIAL_EPOCHS[name], validation=0.25)
            if asked.only != "at-once":
                separate(results, name, base, asked.runs)
            for kind in asked.kinds if asked.only != "separate" else ():
                for trial in [None] if asked.trials is None else asked.trials or list(TRIALS):
                    at_once(results, name, base, asked.runs, kind, trial)


if __name__ == "__main__":
    main()
