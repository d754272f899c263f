"""What the pruner costs: one training step with it ÷ the same step dense.

    python benchmarks/overhead.py [--out benchmarks/results/overhead.json]

The 251 k-weight GCN of FPHA's shape at batch 600, one thread; the two nets take turns step by step, so that noise of the
machine falls on both; the figure is the ratio of medians. Two states of the pruned net are measured: in mid-training with
the KL on (λ = 10, thresholds renewed every step) and as the default recipe runs it.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from bandstop import Pruner, Recipe
from bandstop.nets import NetConfig, build_net
from bandstop.schedules import Constant
from bandstop.training.memory import keep_freed_memory


def stepper(recipe: Recipe | None, batch: int) -> Callable[[], float]:
    """A function that takes one training step and says how long it took."""
    torch.manual_seed(0)
    net = build_net(NetConfig(combine="concat"), joints=21, signal=96, classes=45)
    pruner = Pruner(net, 0.98, steps=10_000, recipe=recipe) if recipe else None
    optimiser = torch.optim.AdamW(pruner.parameter_groups(1e-3) if pruner else net.parameters(), lr=1e-3)
    x, y = torch.randn(batch, 21, 96), torch.randint(45, (batch,))

    def step() -> float:
        began = time.perf_counter()
        loss = nn.functional.cross_entropy(net(x), y)
        if pruner:
            loss = loss + pruner.penalty()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        if pruner:
            pruner.step()
        return time.perf_counter() - began

    return step


def main() -> None:
    """Measure, print, and write the result if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=600)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()  # for both sides: what the system does with freed pages is noise here
    steppers = {
        "dense": stepper(None, asked.batch),
        "default": stepper(Recipe.default(), asked.batch),
        "default, KL on, thresholds every step": stepper(Recipe(kl=Constant(10.0), every=1), asked.batch),
        "paper": stepper(Recipe.paper(), asked.batch),
    }
    times: dict[str, list[float]] = {name: [] for name in steppers}
    for turn in range(asked.steps + 3):
        for name, step in steppers.items():
            taken = step()
            if turn >= 3:
                times[name].append(taken)
    medians = {name: statistics.median(t) for name, t in times.items()}
    result = {
        "what": f"GCN with 251,080 weights, batch {asked.batch}, one thread, {asked.steps} steps each, medians",
        "machine": f"{platform.machine()}, torch {torch.__version__}",
        "milliseconds": {k: round(v * 1e3, 3) for k, v in medians.items()},
        "ratio_to_dense": {k: round(v / medians["dense"], 4) for k, v in medians.items()},
    }
    print(json.dumps(result, indent=1))
    if asked.out:
        from bandstop.files import write_text

        write_text(asked.out, json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
