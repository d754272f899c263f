"""Fine-tuning a trained network to 98 %: `python benchmarks/finetune.py [--task digits|text] [--page]`.

The digits CNN and the character transformer of examples/ are trained dense, then pruned and fine-tuned for
five epochs: by bandstop as it chooses by itself, by bandstop with either start and the schedule for new
networks, and by torch.nn.utils.prune, at once or gradually. Every method has as many settings, tried on a
validation part, and is judged once on the test part with five seeds. Results go to
benchmarks/results/finetune.json after every run, so that a stopped comparison goes on where it was; the
table of docs/fine-tuning.md is made from them (benchmarks/finetune_page.py).
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from finetune_page import RESULTS, update
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import prune

from bandstop import Pruner, Recipe
from bandstop.files import write_text

sys.path.append(str(Path(__file__).parent / "library_rivals"))
from loop import TASKS, learning_rate

RATE, EPOCHS, SEEDS = 0.98, 5, (0, 1, 2, 3, 4)
TRIAL_SEEDS = {"digits": (100, 101), "text": (100,)}
"""The validation part of the digits has 225 images only."""
DENSE = {"digits": (30, 3e-3), "text": (10, 1e-2)}
"""Epochs and learning rate of the dense training."""
WEIGHT_DECAY = 1e-4
Setting = Mapping[str, float]
After = Callable[[int], None]

LATENT = {
    "digits": tuple({"lr": lr, "latent_lr": latent} for lr in (3e-3, 1e-2) for latent in (0.1, 0.2, 0.3)),
    "text": tuple({"lr": lr, "latent_lr": latent} for lr in (3e-3, 1e-2) for latent in (0.1, 0.2)),
}
ONCE = {
    "digits": tuple({"lr": lr} for lr in (3e-3, 1e-2, 2e-2, 3e-2, 5e-2, 1e-1)),
    "text": tuple({"lr": lr} for lr in (3e-3, 1e-2, 2e-2, 5e-2)),
}
GRADUAL = {
    "digits": tuple({"lr": lr, "end": end} for lr in (1e-2, 2e-2, 4e-2) for end in (0.3, 0.6)),
    "text": tuple({"lr": lr, "end": end} for lr in (1e-2, 2e-2) for end in (0.3, 0.6)),
}
METHODS: dict[str, dict[str, tuple[Setting, ...]]] = {
    "bandstop": LATENT,
    "bandstop, start scale": LATENT,
    "bandstop, start rank": LATENT,
    "torch, cut once": ONCE,
    "torch, cut gradually": GRADUAL,
}
"""The settings of each method that are tried, by task."""
RECIPES = {
    "bandstop": None,
    "bandstop, start scale": Recipe(start="scale"),
    "bandstop, start rank": Recipe(start="rank", threshold="empirical"),
}


def per_epoch(task: Any) -> int:
    """Optimiser steps of an epoch."""
    return len(task.x) // 32 if hasattr(task, "x") else len(task.letters) // 512


def train(task: Any, net: nn.Module, optimiser: torch.optim.Optimizer, steps: int, after: After) -> None:
    """Cross-entropy, with a tenth of warm-up and half a cosine."""
    top = [group["lr"] for group in optimiser.param_groups]
    net.train()
    for step in range(1, steps + 1):
        for group, rate in zip(optimiser.param_groups, top, strict=True):
            group["lr"] = rate * learning_rate(step / steps)
        x, y = task.batch()
        loss = F.cross_entropy(net(x).flatten(0, -2), y.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        after(step)


@cache
def dense(name: str, seed: int, validation: bool) -> tuple[nn.Module, float]:
    """The trained network and its accuracy."""
    torch.manual_seed(seed)
    task, (epochs, lr) = TASKS[name](validation), DENSE[name]
    net = task.network()
    optimiser = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=WEIGHT_DECAY)
    train(task, net, optimiser, epochs * per_epoch(task), lambda step: None)
    return net, judge(task, net)


@torch.no_grad()
def judge(task: Any, net: nn.Module) -> float:
    """Accuracy in per cent."""
    found: float = task.accuracy(net.eval())
    return found


def places(net: nn.Module) -> list[tuple[nn.Module, str]]:
    """What torch's pruning is asked to prune: every weight of two or more dimensions."""
    modules = [m for m in net.modules() if isinstance(getattr(m, "weight", None), nn.Parameter)]
    return [(m, "weight") for m in modules if m.weight.ndim >= 2]


def cut(weights: list[tuple[nn.Module, str]], method: str, setting: Setting, steps: int) -> After:
    """Prune ``weights`` by torch's functions; what it returns is called after each step."""
    total, done = sum(module.weight.numel() for module, _ in weights), 0  # type: ignore[operator, union-attr]
    if method == "torch, cut once":
        prune.global_unstructured(weights, prune.L1Unstructured, amount=RATE)

    def after(step: int) -> None:
        nonlocal done
        if method != "torch, cut gradually" or (step % 4 and step < setting["end"] * steps):
            return
        share = 1 - (1 - min(step / (setting["end"] * steps), 1)) ** 3
        if (wanted := round(RATE * share * total)) > done:
            prune.global_unstructured(weights, prune.L1Unstructured, amount=wanted - done)
            done = wanted

    return after


def run(name: str, method: str, setting: Setting, seed: int, validation: bool) -> dict[str, Any]:
    """Prune and fine-tune the network of a seed."""
    trained, before = dense(name, seed, validation)
    net, task = copy.deepcopy(trained), TASKS[name](validation)
    torch.manual_seed(1000 + seed)
    steps, said = EPOCHS * per_epoch(task), ""
    if method in RECIPES:
        pruner = Pruner(net, RATE, steps=steps, recipe=RECIPES[method])
        said = pruner.why_start
        groups = pruner.parameter_groups(
            setting["lr"], latent_lr=setting["latent_lr"], weight_decay=WEIGHT_DECAY
        )
        attached = judge(task, net)
        train(task, net, torch.optim.AdamW(groups), steps, lambda step: pruner.step())
        net = pruner.finalize()
    else:
        weights = places(net)
        after = cut(weights, method, setting, steps)
        attached = judge(task, net)
        optimiser = torch.optim.AdamW(net.parameters(), lr=setting["lr"], weight_decay=WEIGHT_DECAY)
        train(task, net, optimiser, steps, after)
        for module, attribute in weights:
            prune.remove(module, attribute)
    left = [p for p in net.parameters() if p.ndim >= 2]
    return {
        "dense": before,
        "attached": attached,
        "accuracy": judge(task, net),
        "kept": sum(int(p.count_nonzero()) for p in left),
        "weights": sum(p.numel() for p in left),
        "empty_layers": sum(not p.count_nonzero() for p in left),
        "steps": steps,
        "said": said,
    }


def do(job: dict[str, Any]) -> dict[str, Any]:
    """The job's result: from the file, or measured now and kept there."""
    found = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    key = json.dumps(job, sort_keys=True)
    if key not in found:
        made = run(job["task"], job["method"], job["setting"], job["seed"], job["kind"] == "trial")
        print(key, f"{made['accuracy']:.2f}", flush=True)
        found[key] = {**job, **made}
        write_text(RESULTS, json.dumps(found, indent=0, sort_keys=True) + "\n")
    return dict(found[key])


def compare(task: str) -> None:
    """All methods on one task: trials, then the test part with the best setting of each."""
    for seeds in (SEEDS[:3], SEEDS[3:]):  # so that a comparison stopped early has three of each
        for method in METHODS:
            job = {"kind": "test", "task": task, "method": method, "setting": chosen(task, method)}
            for seed in seeds:
                do({**job, "seed": seed})


def chosen(task: str, method: str) -> Setting:
    """The setting that is best on the validation part, in the mean over the seeds of the trials."""
    job = {"kind": "trial", "task": task, "method": method}
    scores = [
        mean(do({**job, "setting": setting, "seed": seed})["accuracy"] for seed in TRIAL_SEEDS[task])
        for setting in METHODS[method][task]
    ]
    return METHODS[method][task][scores.index(max(scores))]


def main() -> None:
    """Compare, then write the table into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", choices=tuple(DENSE), help="only this one")
    parser.add_argument("--page", action="store_true", help="only make the table from the results")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    if not asked.page:
        for task in (asked.task,) if asked.task else tuple(DENSE):
            compare(task)
    update()


if __name__ == "__main__":
    main()
