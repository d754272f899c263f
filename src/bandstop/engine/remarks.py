"""Warnings about a training that is probably not what was meant, each in one sentence and once."""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any

from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook

from bandstop.errors import BandstopWarning

if TYPE_CHECKING:
    from bandstop.engine.pruner import Pruner

__all__ = ["Remarks", "check_groups"]


class Remarks:
    """What a pruner has to say about how it is used."""

    def __init__(self, pruner: Pruner) -> None:
        self._said: set[str] = set()
        self.seen_optimiser = False
        self._hook = _watch_first_optimiser(pruner)

    def once(self, about: str, sentence: str) -> None:
        """Warn with ``sentence``, unless something was said ``about`` this already."""
        if about not in self._said:
            self._said.add(about)
            warnings.warn(sentence, BandstopWarning, stacklevel=4)

    def after_step(self, pruner: Pruner) -> None:
        """Look at a step that was just counted."""
        if self.seen_optimiser and self._hook is not None:  # a hook cannot remove itself while it runs
            self._hook.remove()
            self._hook = None
        if pruner.taken == pruner.steps + 1:
            self.once(
                "steps",
                f"the training goes on after steps={pruner.steps:,}, which the schedules were spread over: "
                "give the pruner the optimiser steps of the whole training, epochs × batches",
            )
        if pruner.taken == 2 and pruner.kl_weight and not pruner.loss_terms.added:
            self.once(
                "penalty",
                f"the recipe has a penalty (λ = {pruner.kl_weight:g}) and no loss contained it: add "
                "pruner.penalty() to the loss",
            )

    def before_end(self, pruner: Pruner) -> None:
        """Look at a training that is about to be finalized."""
        if not pruner.taken:
            self.once(
                "end",
                "pruner.step() was never called, so all connections are pruned at once and nothing was "
                "trained to do without them: call it after each optimiser step",
            )
        elif (
            not pruner.frozen
            and pruner.progress < pruner.recipe.freeze
            and pruner.recipe.ramp(pruner.progress) < 1
        ):
            self.once(
                "end",
                f"finalized after {pruner.taken:,} of {pruner.steps:,} steps: the schedules had not ended, "
                f"so {1 - pruner.recipe.ramp(pruner.progress):.0%} of the pruning happens at once now",
            )


def check_groups(pruner: Pruner, optimiser: Optimizer) -> None:
    """Warn once if latents share an optimiser group with plain parameters, or are decayed."""
    latents = {id(layer.latent) for layer in pruner.layers}
    for group in optimiser.param_groups:
        inside = [id(parameter) in latents for parameter in group["params"]]
        if any(inside) and (not all(inside) or group.get("weight_decay")):
            pruner.remarks.once(
                "groups",
                "latent weights have the scale of the prior, about one: give them a group of their own "
                "with ten times the learning rate and no weight decay, AdamW(pruner.parameter_groups(lr=…))",
            )
            return


def _watch_first_optimiser(pruner: Pruner) -> Any:
    """Check the groups of the first optimiser that moves a latent; returns the hook's handle."""
    watched = weakref.ref(pruner)

    def look(optimiser: Optimizer, *_: Any) -> None:
        found = watched()
        if found is not None and not found.remarks.seen_optimiser:
            latents = {id(layer.latent) for layer in found.layers}
            if any(
                id(parameter) in latents for group in optimiser.param_groups for parameter in group["params"]
            ):
                found.remarks.seen_optimiser = True
                check_groups(found, optimiser)

    handle = register_optimizer_step_post_hook(look)
    weakref.finalize(pruner, handle.remove)
    return handle
