"""A pruner's own state for checkpoints, and whether a state belongs to it.

Latents, thresholds and masks are in the model's state; this is where the schedules stand, and for what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from bandstop.engine.start import with_start
from bandstop.engine.trace import count_kept
from bandstop.errors import ConfigError

if TYPE_CHECKING:
    from bandstop.engine.pruner import Pruner

__all__ = ["load_state", "require_masks", "state_of"]


def state_of(pruner: Pruner) -> dict[str, Any]:
    """Plain numbers and names."""
    budget = pruner.budget
    state = {
        "taken": pruner.taken,
        "frozen": pruner.frozen,
        "counts": dict(pruner.counts),
        "thresholds": dict(pruner.fixed_thresholds),
        "budget": [budget.kind, budget.amount, budget.scope],
        "sizes": dict(pruner.bound.sizes),
    }
    if pruner.why_start:
        state["start"] = [pruner.recipe.start, pruner.why_start]
    return state if pruner.dual is None else state | {"dual": pruner.dual.state()}


def load_state(pruner: Pruner, state: dict[str, Any]) -> None:
    """Set schedules, counts and frozen masks; refuses the state of another pruner."""
    _require_own(pruner, state)
    if pruner.why_start and "start" in state:  # a new network may have been built to take the state
        start, pruner.why_start = state["start"]
        pruner._take_up(with_start(pruner.asked, start))
    pruner.taken, pruner.frozen = int(state["taken"]), bool(state["frozen"])
    pruner.noted_counts = {name: int(state["counts"][name]) for name in pruner.bound.sizes}
    pruner.fixed_thresholds = dict(state.get("thresholds", state.get("cuts", {})))  # "cuts": version 0.1
    if pruner.dual is not None:
        pruner.dual.load_state(state.get("dual", 0.0))
    for layer in pruner.layers:
        assert layer.band is not None
        loaded = layer.band.mask
        if loaded is None:
            loaded = torch.ones_like(layer.latent, dtype=torch.bool)
        layer.set_mask(loaded if pruner.frozen else None)


def _require_own(pruner: Pruner, state: dict[str, Any]) -> None:
    """A state belongs to a pruner with the same layers and the same budget."""
    mine, theirs = list(pruner.bound.sizes), list(state["counts"])
    if set(mine) != set(theirs):  # some files sort what they store
        raise ConfigError(
            f"the state is that of a pruner of {', '.join(theirs)}, and this one prunes {', '.join(mine)}: "
            "build model and pruner as when it was saved"
        )
    budget = pruner.budget
    asked = [budget.kind, budget.amount, budget.scope]
    found = list(state.get("budget", asked))
    if found != asked:
        raise ConfigError(
            f"the state belongs to a pruner with budget {found[1]:g} ({found[0]}, {found[2]}), and this one "
            f"has {budget.amount:g} ({budget.kind}, {budget.scope}): build the pruner as when it was saved"
        )
    sizes = dict(state.get("sizes", pruner.bound.sizes))
    if wrong := [name for name, size in pruner.bound.sizes.items() if sizes[name] != size]:
        raise ConfigError(
            f"the state is that of a pruner whose layer {wrong[0]} has {sizes[wrong[0]]:,} weights, and "
            f"here it has {pruner.bound.sizes[wrong[0]]:,}: build model and pruner as when it was saved"
        )


def require_masks(pruner: Pruner) -> None:
    """Refuse masks that are not those that the state counted: only one of two states was loaded."""
    for layer in pruner.layers:
        if layer.band is not None and not pruner.frozen and layer.band.charted != pruner.recipe.charted:
            raise ConfigError(
                f"the latents of layer {layer.name} are of another start than the pruner's state says: load "
                "the states of model and pruner together"
            )
        mask = None if layer.band is None else layer.band.mask
        if (mask is not None) != pruner.frozen:
            raise ConfigError(
                f"the mask of layer {layer.name} is {'not ' if pruner.frozen else ''}fixed, but the "
                "pruner's state "
                f"says that it is{'' if pruner.frozen else ' not'}: load the states of model and pruner "
                "together"
            )
        if mask is not None and count_kept(mask) != pruner.counts[layer.name]:
            raise ConfigError(
                f"layer {layer.name} has a mask of {count_kept(mask):,} connections where the pruner's "
                f"state has {pruner.counts[layer.name]:,}: load the states of model and pruner together"
            )
