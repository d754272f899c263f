"""What the examples share: their arguments, their table,
and the file that keeps the outcome (benchmarks/results/examples/).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from bandstop.engine.trace import effective_weights, kept
from bandstop.files import write_text

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "examples"
Train = Callable[[float, int, bool, bool], tuple[nn.Module, float]]


def main(name: str, train: Train, *, rates: tuple[float, ...] = (0.0, 0.95, 0.98, 0.99)) -> None:
    """Train dense (rate 0) and at every rate, print the table, and keep it with ``--record``.

    ``train(rate, seed, short, validation)`` gives a finished plain network and its accuracy in per cent.
    """
    parser = argparse.ArgumentParser(prog=f"examples/{name}.py")
    parser.add_argument(
        "--short", action="store_true", help="a few seconds instead of minutes: to see that it runs"
    )
    parser.add_argument(
        "--validation", action="store_true", help="judge on a part of the training set: for choosing settings"
    )
    parser.add_argument("--rates", type=float, nargs="+", default=rates)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--record", action="store_true", help=f"write benchmarks/results/examples/{name}.json"
    )
    asked = parser.parse_args()
    torch.set_num_threads(1)
    rows, seeds = [], 1 if asked.short else asked.seeds
    print(f"{'rate asked':>10} {'kept':>9} {'of':>9} {'rate':>8} {'accuracy':>16} {'seconds':>8}")
    for rate in asked.rates:
        found, began = [], time.perf_counter()
        for seed in range(seeds):
            net, accuracy = train(rate, seed, asked.short, asked.validation)
            found.append(accuracy)
        seconds = (time.perf_counter() - began) / seeds
        left, total = sum(kept(net).values()), sum(w.numel() for w in effective_weights(net).values())
        mean, deviation = statistics.mean(found), statistics.stdev(found) if seeds > 1 else 0.0
        rows.append(
            {"asked": rate, "kept": left, "weights": total, "accuracies": found, "seconds": round(seconds, 1)}
        )
        print(
            f"{rate:10.0%} {left:9,} {total:9,} {1 - left / total:8.3%} "
            f"{mean:9.2f} ± {deviation:4.2f} {seconds:8.1f}"
        )
    if asked.record:
        command = f"python examples/{name}.py --seeds {seeds} --record"
        write_text(RESULTS / f"{name}.json", json.dumps({"command": command, "rows": rows}, indent=1) + "\n")
