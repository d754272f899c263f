"""Keeping pruned weights at zero while the others train on.

A fixed mask on sharded weights stays sharded like them: whole, it would take a byte per weight on every rank.
It cannot meet the gathered weight in the forward pass, so the latents themselves hold the zeros: their
gradients are masked as they arrive on the shards, and what momentum does to them is undone after each step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.shards.tensor import local

__all__ = ["hold_zeros", "mask_gradients"]


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
