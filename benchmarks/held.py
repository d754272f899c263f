r"""How well each prior holds in the default recipe, and what that costs beside free latents (``empirical``).

    python benchmarks/held.py --data fpha:PATH --out benchmarks/results/held.csv
    python benchmarks/held.py --net tcn --priors laplace gaussian --data fpha:PATH \
        --out benchmarks/results/held_tcn.csv

Each training holds out a quarter of the training split; the test split is not seen. A finished training is a
row of the result file and is not repeated. ``kl`` is the largest of any layer and ``rate_error`` the largest
in points, over all epochs from the end of the ramp until the mask is fixed; ``moved`` is the share of all
weights, in per cent, that choosing the final mask moved in or out of what passed the prior's quantile: by the
exact count, and by replacing dead connections.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import itertools
import time
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from bandstop.engine.prior_fit import fit_of_layers
from bandstop.engine.pruner import Pruner
from bandstop.engine.select.topk import count_above, masks_above
from bandstop.files import write_text
from bandstop.method.priors import Prior, prior
from bandstop.method.priors_tabulated import Tabulated
from bandstop.nets import NetConfig, build_net
from bandstop.skeleton import SequenceSet, load
from bandstop.training.config import RunConfig
from bandstop.training.data import data_of_run
from bandstop.training.loop import Trainer
from bandstop.training.measure import accuracy, predict
from bandstop.training.method import net_for
from bandstop.training.presets import starting_config

COLUMNS = ("preset", "prior", "rate", "seed", "epochs", "accuracy", "kl", "rate_error", "moved", "seconds")
PRIORS = ("gaussian", "laplace", "uniform", "student", "tabulated")


def table() -> Prior:
    """A tabulated prior unlike the named ones: a flat middle and straight sides (a trapezium)."""
    return Tabulated.from_density(lambda x: (2 - x.abs()).clamp(max=1), limit=2.0, cells=256)


def trained(sequences: SequenceSet, config: RunConfig, chosen: Prior) -> dict[str, float]:
    """One training: accuracy on the held-out quarter, and how well the prior held."""
    config = config.resolved()
    torch.manual_seed(config.seed)
    data = data_of_run(config, sequences)
    net = build_net(net_for(config, **data.shape), **data.shape, edges=data.source.edges.tolist())
    with mock.patch("bandstop.training.method._prior", lambda _: chosen):  # a config cannot name a table
        trainer = Trainer(config, net, data)
    pruner: Any = trainer.method.pruner
    assert isinstance(pruner, Pruner)
    choose, moved, fits, errors = pruner.selection, [0.0], [0.0], [0.0]

    def selection() -> dict[str, torch.Tensor]:
        passing, masks = masks_above(pruner.layers.latents(), pruner.layers.thresholds()), choose()
        changed = sum(int((passing[name] != mask).sum()) for name, mask in masks.items())
        moved.append(100 * changed / pruner.bound.prunable)
        return masks

    pruner.selection = selection
    began = time.process_time()
    while not trainer.finished:
        trainer.run_epoch()
        if not pruner.frozen and pruner.recipe.ramp(pruner.progress) >= 1:
            counts = count_above(pruner.layers.latents(), pruner.layers.thresholds())
            rate = 1 - sum(counts.values()) / pruner.bound.prunable
            errors.append(100 * abs(rate - (pruner.asked_rate() or 0.0)))
            fits += [fit.kl for fit in fit_of_layers(pruner).values()]
    seconds = time.process_time() - began
    found = accuracy(data.judge_labels, predict(trainer.finish()[0], data.judge_signals))
    rows = {"accuracy": found, "kl": max(fits), "rate_error": max(errors), "moved": max(moved)}
    return {**rows, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rates", type=float, nargs="+", default=[0.99, 0.98, 0.995, 0.95, 0.8, 0.55])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(6)))
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--priors", nargs="+", choices=PRIORS, default=PRIORS)
    parser.add_argument("--net", choices=("gcn", "tcn"), default="gcn")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[dict[str, str]] = list(csv.DictReader(asked.out.open())) if asked.out.is_file() else []
    done = {tuple(row[name] for name in COLUMNS[:5]) for row in rows}
    sequences = load(asked.data, RunConfig().reading)
    pairs = [("empirical", "laplace"), *(("held", name) for name in asked.priors)]
    for rate, (preset, name), seed in itertools.product(asked.rates, pairs, asked.seeds):
        key = (preset, name, str(rate), str(seed), str(asked.epochs))
        if key in done:
            continue
        config = dataclasses.replace(
            starting_config(preset),
            data=asked.data,
            net=NetConfig(kind=asked.net),
            rate=rate,
            seed=seed,
            epochs=asked.epochs,
            validation=0.25,
        )
        found = trained(sequences, config, table() if name == "tabulated" else prior(name))
        numbers = {column: f"{value:.6g}" for column, value in found.items()}
        rows.append(dict(zip(COLUMNS[:5], key, strict=True)) | numbers)
        lines = [",".join(COLUMNS), *(",".join(row[column] for column in COLUMNS) for row in rows)]
        write_text(asked.out, "\n".join(lines) + "\n")
        print(*rows[-1].values(), flush=True)


if __name__ == "__main__":
    main()
