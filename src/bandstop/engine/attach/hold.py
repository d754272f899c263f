"""Keeping pruned weights at zero while others train: ``hold`` for a finished network, masks for the pruner.

A fixed mask on sharded weights stays sharded like them: whole, it would take a byte per weight on every rank.
It cannot meet the gathered weight in the forward pass, so the latents themselves hold the zeros: their
gradients are masked as they arrive on the shards, and what momentum does to them is undone after each step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from bandstop.engine.shards.tensor import local
from bandstop.errors import ModelError

__all__ = ["Held", "hold", "hold_zeros", "mask_gradients"]


class Held:
    """The zeros of a network that ``hold`` keeps; ``restore`` puts them back, ``release`` lets them go."""

    def __init__(self, weights: Mapping[str, nn.Parameter]) -> None:
        self.masks = {name: weight.detach() != 0 for name, weight in weights.items()}
        self._weights = dict(weights)
        self._hooks = [self._stop(weight, self.masks[name]) for name, weight in weights.items()]

    @staticmethod
    def _stop(weight: nn.Parameter, mask: Tensor) -> Any:
        @torch.no_grad()
        def stop(parameter: Tensor) -> None:
            if parameter.grad is not None:
                parameter.grad.mul_(mask.to(parameter.device))

        return weight.register_post_accumulate_grad_hook(stop)  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def restore(self) -> None:
        """Put the zeros back; needed only with an optimiser that has momentum from before ``hold``."""
        for name, weight in self._weights.items():
            weight.mul_(self.masks[name].to(weight.device))

    def release(self) -> None:
        """Let all weights train again."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()


def hold(model: nn.Module) -> Held:
    """Keep the exact zeros of a finalized ``model`` while it is trained further with a new optimiser.

    A plain network does not know that its zeros were pruned: the first step of an optimiser would revive
    them. Held weights get no gradient, so that any new optimiser leaves them at zero, decayed or not.

    >>> model = nn.Linear(3, 1)
    >>> _ = model.weight.data.copy_(torch.tensor([[1.0, 0.0, 2.0]]))
    >>> held = hold(model)
    >>> optimiser = torch.optim.AdamW(model.parameters(), lr=0.1)
    >>> model(torch.ones(1, 3)).sum().backward()
    >>> optimiser.step()
    >>> (model.weight != 0).tolist()
    [[True, False, True]]
    """
    if not isinstance(model, nn.Module):
        raise ModelError(f"hold needs a torch.nn.Module, found {type(model).__name__}")
    if any(parametrize.is_parametrized(module) for module in model.modules()):
        raise ModelError("the model is still parametrised: finalize its pruner before its zeros are held")
    trained = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
    weights = {n: weight for n, weight in trained.items() if weight.ndim > 1 and bool((weight == 0).any())}
    if not weights:
        raise ModelError("the model has no trained weight with exact zeros to hold: finalize a pruner first")
    return Held(weights)


def mask_gradients(latent: nn.Parameter, band: Any) -> Any:
    """Stop the gradient of the sharded entries outside ``band.mask``; returns a handle to remove the hook."""

    @torch.no_grad()
    def stop(parameter: Tensor) -> None:
        if band.mask is not None and parameter.grad is not None:
            local(parameter.grad).masked_fill_(~local(band.mask), 0)

    return latent.register_post_accumulate_grad_hook(stop)  # type: ignore[no-untyped-call]


@torch.no_grad()
def hold_zeros(latent: nn.Parameter, mask: Tensor | None) -> None:
    """Put the zeros of a latent back that momentum has moved.

    >>> latent = nn.Parameter(torch.ones(2))
    >>> hold_zeros(latent, torch.tensor([True, False]))
    >>> latent.tolist()
    [1.0, 0.0]
    """
    if mask is not None:
        local(latent).mul_(local(mask))
