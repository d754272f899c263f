"""Trainings saved on one number of ranks and resumed on another; findings as JSON."""

import json
import sys
from pathlib import Path
from typing import Any

import torch

from bandstop import Recipe
from bandstop.distributed import (
    full_state_dict,
    last_checkpoint,
    load_checkpoint,
    save_checkpoint,
    save_plain,
)
from bandstop.method.schedules import Constant
from tests.distributed.ranks import on_ranks
from tests.distributed.small import Training, training

RECIPES = {"free": Recipe(kl=Constant(0.1), threshold="empirical"), "held": Recipe.held()}


def begun(way: str, name: str, seed: int = 0) -> Training:
    """A training of 20 steps; held latents in float64, since the map to a prior is steep."""
    dtype = torch.float64 if name == "held" else torch.float32
    return training(way, RECIPES[name], steps=20, seed=seed, dtype=dtype)


def begin(folder: str, way: str, steps: int, name: str = "free") -> dict[str, Any]:
    """Train to the asked step and save."""
    run = begun(way, name)
    run.run(steps, share=True)
    save_checkpoint(folder, run.pruner, run.optimiser, extra={"way": way})
    return {"masks": str(run.masks()) if run.pruner.frozen else None, "kept": run.pruner.kept}


def resume(folder: str, way: str, seed: int = 9, name: str = "free") -> dict[str, Any]:
    """Load into a network that starts elsewhere, train to the end, finalize."""
    run = begun(way, name, seed)
    if last_checkpoint(folder) is not None:
        for group in run.optimiser.param_groups:
            group["lr"] = 123.0  # the checkpoint's is to be restored
    extra = load_checkpoint(folder, run.pruner, run.optimiser)
    loaded = {"masks": str(run.masks()) if run.pruner.frozen else None, "kept": run.pruner.kept}
    run.run(20 - run.pruner.taken, share=True)
    thresholds = [t.hex() for t in run.thresholds()]
    run.pruner.finalize()
    state = full_state_dict(run.model)
    path = Path(folder) / f"plain-{way}-{torch.distributed.get_world_size()}.pt"
    save_plain(run.model, path)
    again = torch.load(path, weights_only=True)
    same = all(torch.equal(again[name], state[name]) for name in state)
    kept = sum(int(w.count_nonzero()) for w in again.values() if w.ndim == 2)
    numbers = {name: w.flatten().tolist() for name, w in again.items() if w.ndim == 2}
    found = {
        "loaded": loaded,
        "extra": extra,
        "kept": kept,
        "thresholds": thresholds,
        "masks": str(run.masks()),
    }
    return found | {"file": same and len(again) > 0, "weights": numbers}


def nothing(folder: str) -> list[Any]:
    """An empty folder, an unfinished checkpoint, and the two newest of four."""
    run = begun("fsdp", "free")
    Path(folder, "step-00000007.part").mkdir(parents=True, exist_ok=True)
    first = load_checkpoint(folder, run.pruner, run.optimiser)
    for _ in range(4):
        run.run(1, share=True)
        save_checkpoint(folder, run.pruner, run.optimiser)
    names = sorted(path.name for path in Path(folder).glob("step-*"))
    found = last_checkpoint(folder)
    return [first, names, found.name if found else None]


if __name__ == "__main__":
    folder = sys.argv[1]
    findings: dict[str, Any] = {"nothing": on_ranks(2, nothing, f"{folder}/none")}
    for steps in (10, 17):
        place = f"{folder}/{steps}"
        findings[f"begun {steps}"] = on_ranks(2, begin, place, "fsdp", steps)[0]
        for world in (1, 2, 4) if steps == 17 else (2, 4):
            findings[f"{steps} to {world}"] = on_ranks(world, resume, place, "fsdp")
    place = f"{folder}/four"
    findings["begun four"] = on_ranks(4, begin, place, "ddp", 17)[0]
    findings["four to 2"] = on_ranks(2, resume, place, "fsdp")
    findings["straight"] = on_ranks(2, resume, f"{folder}/empty", "fsdp", 0)
    place = f"{folder}/held"
    findings["begun held"] = on_ranks(2, begin, place, "fsdp", 10, "held")[0]
    for world in (2, 4):
        findings[f"held to {world}"] = on_ranks(world, resume, place, "fsdp", 9, "held")
    findings["straight held"] = on_ranks(2, resume, f"{folder}/empty", "fsdp", 0, "held")
    print(json.dumps(findings))
