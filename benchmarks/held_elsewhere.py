r"""The default recipe, whose latents are held to the prior, beside free latents, on networks of other kinds.

    python benchmarks/held_elsewhere.py [--task digits text lstm] --out benchmarks/results/held_elsewhere.json

The digits CNN and the character transformer of examples/ and an LSTM on the embedded hands, trained from
random weights, each way with the same seeds and settings (those chosen for free latents in
benchmarks/libraries.py), judged on a validation part of the training data. A finished training is kept in the
result file and not repeated. At the end the paired differences are printed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
from pathlib import Path
from typing import Any

import torch

from bandstop import Pruner, Recipe
from bandstop.files import write_text
from bandstop.nets import NetConfig, build_net
from bandstop.skeleton import load
from bandstop.training.config import RunConfig
from bandstop.training.data import data_of_run
from bandstop.training.loop import Trainer
from bandstop.training.measure import accuracy, predict
from bandstop.training.presets import starting_config

sys.path.append(str(Path(__file__).parent / "library_rivals"))
from bandstop_rival import Bandstop
from loop import run

RECIPES = {"default": Recipe.default, "empirical": Recipe.empirical}
RATES = (0.9, 0.95, 0.98, 0.99)
SEEDS = {"digits": range(8), "text": range(6), "lstm": range(3)}
SETTING = {"lr": 1e-2, "latent_lr": 0.2}
LSTM_EPOCHS = 40


def by(preset: str) -> type[Bandstop]:
    """A network of examples/ under a recipe."""

    class Kind(Bandstop):
        """Bandstop with the recipe."""

        def attach(self) -> None:
            recipe = RECIPES[preset]()
            self.pruner = Pruner(self.net, self.rate, steps=self.steps, example=self.example, recipe=recipe)

    return Kind


def lstm(preset: str, rate: float, seed: int) -> dict[str, Any]:
    """An LSTM on the hands, a quarter held out."""
    given = starting_config(preset)
    config = RunConfig(
        data="hands",
        rate=rate,
        seed=seed,
        epochs=LSTM_EPOCHS,
        validation=0.25,
        net=NetConfig(kind="lstm"),
        prune=given.prune,
        preset=given.preset,
    ).resolved()
    torch.manual_seed(seed)
    data = data_of_run(config, load(config.data, config.reading))
    trainer = Trainer(config, build_net(config.net, **data.shape, edges=data.source.edges.tolist()), data)
    while not trainer.finished:
        trainer.run_epoch()
    return {"accuracy": accuracy(data.judge_labels, predict(trainer.finish()[0], data.judge_signals))}


def trained(task: str, preset: str, rate: float, seed: int) -> float:
    """Accuracy in per cent."""
    if task == "lstm":
        return float(lstm(preset, rate, seed)["accuracy"])
    return float(run(task, by(preset), rate, seed, SETTING, validation=True)["accuracy"])


def main() -> None:
    """Train what is missing, and print the differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", nargs="+", choices=SEEDS, default=list(SEEDS))
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    found: dict[str, float] = json.loads(asked.out.read_text()) if asked.out.is_file() else {}
    for task, rate in itertools.product(asked.task, RATES):
        for seed, preset in itertools.product(SEEDS[task], RECIPES):
            key = f"{task} {rate} {preset} {seed}"
            if key not in found:
                found[key] = round(trained(task, preset, rate, seed), 3)
                write_text(asked.out, json.dumps(found, indent=0) + "\n")
        means = {p: [found[f"{task} {rate} {p} {seed}"] for seed in SEEDS[task]] for p in RECIPES}
        gaps = [a - b for a, b in zip(means["default"], means["empirical"], strict=True)]
        error = statistics.stdev(gaps) / len(gaps) ** 0.5
        shown = {preset: round(statistics.mean(values), 2) for preset, values in means.items()}
        print(task, rate, shown, f"{statistics.mean(gaps):+.2f} ± {error:.2f}", flush=True)


if __name__ == "__main__":
    main()
