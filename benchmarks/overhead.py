"""What the pruner costs: one training step with it ÷ the same step dense.

    python benchmarks/overhead.py [--out benchmarks/results/overhead.json]

The 251 k-weight GCN of FPHA's shape and convolutions over time, the default network, at the paper's batch
of 600, at 150 and at the default of 75, one thread. The nets take turns by blocks of eight steps, so that
noise of the machine falls on all; the figure is the ratio of medians, of the processor time of the thread,
which other programs on the machine disturb less than time on the wall. The pruned GCN is measured as the
default recipe runs it, while the rate rises and after that, with three dense nets that teach it, with the KL
on (λ = 10) and with a gaussian prior; with free latents (``empirical``), with these and the KL on, at every
fourth step, at every eighth, and with thresholds renewed every step; and as the paper's. The file says how
busy the machine was.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bandstop import Pruner, Recipe
from bandstop.files import write_text
from bandstop.method.priors import Gaussian
from bandstop.method.schedules import Constant
from bandstop.nets import NetConfig, build_net
from bandstop.nets.inference import for_inference
from bandstop.training.distil import distillation, soft_target
from bandstop.training.malloc import keep_freed_memory

BLOCK = 8
"""Steps at a time: a median of single steps would not see what is done at every fourth or eighth."""
WARM_UP = 2
"""Blocks of each kind that are not counted."""


KL = Constant(10.0)
AFTER = 7_100
"""A step, of 10,000, at which the ramp has ended and the mask is not fixed."""


def gcn() -> nn.Module:
    """The GCN of FPHA's shape."""
    return build_net(NetConfig(kind="gcn", combine="concat"), joints=21, signal=96, classes=45)


def tcn() -> nn.Module:
    """Convolutions over 32 chunks of FPHA's shape, seven values of each joint."""
    return build_net(NetConfig(kind="tcn"), joints=21, signal=32 * 7, classes=45, chunks=32)


def stepper(
    recipe: Recipe | None,
    batch: int,
    teachers: int = 0,
    *,
    taken: int = 0,
    make: Callable[[], nn.Module] = gcn,
    signal: int = 96,
) -> Callable[[], float]:
    """A function that takes one training step and says how long the processor worked for it.

    ``taken``: steps that the pruner believes to lie behind it.
    """
    torch.manual_seed(0)
    net, taught_by = make(), [for_inference(make()) for _ in range(teachers)]
    pruner = Pruner(net, 0.98, steps=10_000, recipe=recipe) if recipe else None
    groups = pruner.parameter_groups(1e-3) if pruner else net.parameters()
    optimiser = torch.optim.AdamW(groups, lr=1e-3, fused=True)  # as the training loop has it
    x, y = torch.randn(batch, 21, signal), torch.randint(45, (batch,))
    if pruner:
        pruner.taken = taken

    def step() -> float:
        began = time.thread_time()
        scores = net(x)
        loss = nn.functional.cross_entropy(scores, y)
        if taught_by:
            loss = loss + distillation(scores, soft_target(taught_by, x, 2.0), 2.0)
        if pruner:
            loss = loss + pruner.penalty()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        if pruner:
            pruner.step()
        return time.thread_time() - began

    return step


def gcn_steppers(batch: int) -> dict[str, Callable[[], float]]:
    """The ways in which the GCN is trained."""
    gaussian, free = Recipe.default(Gaussian(1.0)), replace(Recipe.empirical(), kl=KL)
    return {
        "dense": stepper(None, batch),
        "default": stepper(Recipe(), batch),
        "default, after the ramp": stepper(Recipe(), batch, taken=AFTER),
        "default, three teachers": stepper(Recipe(), batch, teachers=3),
        "default, KL on": stepper(Recipe(kl=KL), batch),
        "default, gaussian": stepper(gaussian, batch),
        "default, gaussian, after the ramp": stepper(gaussian, batch, taken=AFTER),
        "empirical": stepper(Recipe.empirical(), batch),
        "empirical, KL on": stepper(free, batch),
        "empirical, KL on at every eighth step": stepper(replace(free, kl_every=2), batch),
        "empirical, KL on, thresholds every step": stepper(replace(free, every=1), batch),
        "paper": stepper(Recipe.paper(), batch),
    }


def tcn_steppers(batch: int) -> dict[str, Callable[[], float]]:
    """Convolutions over time, the default network: dense, by the default recipe, with free latents."""
    ways = {
        "dense": (None, 0),
        "default": (Recipe(), 0),
        "default, after the ramp": (Recipe(), AFTER),
        "default, KL on": (Recipe(kl=KL), 0),
        "empirical": (Recipe.empirical(), 0),
        "empirical, KL on": (replace(Recipe.empirical(), kl=KL), 0),
    }
    return {n: stepper(recipe, batch, make=tcn, signal=224, taken=at) for n, (recipe, at) in ways.items()}


def measure(steppers: dict[str, Callable[[], float]], batch: int, steps: int) -> dict[str, Any]:
    """Medians of the steps of each kind, and their ratio to dense."""
    times: dict[str, list[float]] = {name: [] for name in steppers}
    for turn in range(steps // BLOCK + WARM_UP):
        for name, step in steppers.items():
            taken = sum(step() for _ in range(BLOCK)) / BLOCK
            if turn >= WARM_UP:
                times[name].append(taken)
    medians = {name: statistics.median(t) for name, t in times.items()}
    return {
        "batch": batch,
        "milliseconds": {k: round(v * 1e3, 3) for k, v in medians.items()},
        "ratio_to_dense": {k: round(v / medians["dense"], 4) for k, v in medians.items()},
    }


def main() -> None:
    """Measure, print, and write the result if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, nargs="+", default=[600, 150, 75])
    asked = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()  # for all sides: what the system does with freed pages is noise here
    result = {
        "what": f"GCN with 251,080 weights, one thread, {asked.steps} steps each, medians of processor time",
        "machine": f"{platform.machine()}, torch {torch.__version__}",
        "batches": [measure(gcn_steppers(batch), batch, asked.steps) for batch in asked.batch],
        "tcn": [measure(tcn_steppers(batch), batch, asked.steps) for batch in asked.batch],
        "load": [round(load, 2) for load in os.getloadavg()],
        "cores": os.cpu_count(),
    }
    print(json.dumps(result, indent=1))
    if asked.out:
        write_text(asked.out, json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
