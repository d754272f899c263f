"""Trainings on many ranks beside the same in one process; findings as JSON, one record a rank."""

import json
import sys
from dataclasses import replace
from typing import Any

import torch
from torch.distributed.fsdp import MixedPrecisionPolicy

from bandstop import Recipe
from bandstop.distributed import full_state_dict
from bandstop.engine.select.topk import threshold_for
from bandstop.method.priors import Gaussian
from bandstop.method.schedules import Constant
from tests.distributed.ranks import on_ranks
from tests.distributed.small import Training, net, training

RECIPES = {
    "empirical": Recipe(kl=Constant(0.1), threshold="empirical"),
    "paper": Recipe.paper(),
    "learned": Recipe(allocation="learned", kl=Constant(0.1), histogram="pooled"),
    "erk": Recipe(allocation="erk", freeze=1.0, threshold="empirical"),
    "finetune": Recipe.finetune(),
    "held": replace(Recipe.held(), kl=Constant(0.1)),
    "held gaussian": Recipe.held(Gaussian(1.0)),
}
NOT_THEIR_OWN = ("paper", "learned", "held", "held gaussian")
"""Recipes whose thresholds are not each layer's own quantiles."""


def one_recipe(name: str, way: str) -> dict[str, Any]:
    """Train in one process and shared, and compare."""
    # The map to a prior is steep where a value goes into the next cell: rounding in float32 would show.
    recipe, dtype = RECIPES[name], torch.float64 if name.startswith("held") else torch.float32
    found: dict[str, Any] = {}
    alone, shared = (training(each, recipe, dtype=dtype) for each in ("one", way))
    inputs, _ = alone.data()
    worst = own = log = 0.0
    for _ in range(5):
        alone.run(4, share=False)
        shared.run(4, share=True)
        pairs = zip(shared.thresholds(), alone.thresholds(), strict=True)
        worst = max([worst, *(abs(a - b) / b if b else a for a, b in pairs)])
        if not shared.pruner.frozen:
            log = max([log, *(abs(a - b) for a, b in zip(logged(shared), logged(alone), strict=True))])
        if not shared.pruner.frozen and name not in NOT_THEIR_OWN:
            whole = [_whole(layer.latent).detach() for layer in shared.pruner.layers]
            cuts = [
                threshold_for(w, shared.pruner.counts[p.name])
                for w, p in zip(whole, shared.pruner.layers, strict=True)
            ]
            own = max(own, *(abs(float(c) - t) for c, t in zip(cuts, shared.thresholds(), strict=True)))
    found["thresholds"] = [t.hex() for t in shared.thresholds()]
    found["threshold_off"], found["threshold_off_own_weights"], found["log_off"] = worst, own, log
    found["snapshot"] = sorted(shared.pruner.snapshot())
    if not shared.pruner.frozen:
        shared.pruner.freeze()
        alone.pruner.freeze()
    before = shared.forward(inputs).detach()
    found["masks"], found["masks_alone"] = str(shared.masks()), str(alone.masks())
    shared.pruner.finalize()
    alone.pruner.finalize()
    found["jump"] = float((shared.model(inputs).detach() - before).abs().max())
    found["again"] = str(shared.masks())
    state = full_state_dict(shared.model)
    if state:
        fresh = net(seed=5).to(dtype)
        fresh.load_state_dict(state)
        found["plain_off"] = float((fresh(inputs) - alone.model(inputs)).detach().abs().max())
        found["kept"] = sum(int(w.count_nonzero()) for n, w in state.items() if w.ndim == 2)
    found["asked"], found["reported"] = alone.pruner.kept, shared.pruner.kept
    return found


def logged(run: Training) -> list[float]:
    """What a log would show of the latents."""
    seen = run.pruner.snapshot()
    fits = [number for row in seen["fit"].values() for number in row.values()]
    return [*fits, *seen["histogram"]["observed"], run.pruner.kl() or 0.0, run.pruner.rate]


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def fixed_masks(recipe: Recipe) -> dict[str, Any]:
    """What a fixed mask does to the shards' gradients and values, under momentum and in low precision."""
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    run = training("fsdp", recipe, rate=0.9, mp_policy=policy)
    run.run(18, share=True)
    assert run.pruner.frozen
    dead_gradient = dead_value = moments = 0
    for layer in run.pruner.layers:
        stopped = ~layer.band.mask.to_local()
        latent = layer.latent
        dead_value += int(latent.to_local()[stopped].count_nonzero())
        dead_gradient += int(latent.grad.to_local()[stopped].count_nonzero())
        moments += int(run.optimiser.state[latent]["exp_avg"].to_local()[stopped].count_nonzero())
    run.run(2, share=True)
    run.pruner.finalize()
    state = full_state_dict(run.model)
    kept = sum(int(w.count_nonzero()) for w in state.values() if w.ndim == 2)
    return {"values": dead_value, "gradients": dead_gradient, "moments": moments, "kept": kept}


def both(ways: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        f"{name}, {way}": one_recipe(name, way) for way in ways.split(",") for name in RECIPES
    }
    found["fixed"] = [fixed_masks(recipe) for recipe in (Recipe.empirical(), Recipe.held())]
    return found


if __name__ == "__main__":
    print(json.dumps(on_ranks(int(sys.argv[1]), both, sys.argv[2])))
