"""The soft gate of a large tensor in a single pass over memory: both of its operations on a part while that is in the CPU's cache."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["PART", "shrunk_in_cache"]

PART = 1 << 16
"""Weights that go through both operations at a time."""


def shrunk_in_cache(latent: Tensor, gain: Tensor, threshold: Tensor) -> Tensor | None:
    """``g·sign(ŵ)(|ŵ| − a)₊``; none where it does not pay or may not be done: small tensors, other devices (the threshold would
    have to come to the host), sharded tensors, compilation,
    transforms of torch.func.

    >>> shrunk_in_cache(torch.full((PART + 1,), 3.0), torch.tensor(0.5), torch.tensor(1.0)).unique()
    tensor([1.])
    >>> shrunk_in_cache(torch.ones(3), torch.tensor(0.5), torch.tensor(1.0)) is None
    True
    """
    if latent.device.type != "cpu" or latent.numel() <= PART or torch.compiler.is_compiling():
        return None
    plain = type(latent) in (Tensor, torch.nn.Parameter) and type(threshold) is Tensor
    plain = plain and not torch._C._functorch.is_functorch_wrapped_tensor(latent)
    if not plain or latent.dtype != torch.float32 or not latent.is_contiguous():
        return None
    weight, limit, scale = torch.empty_like(latent), float(threshold), float(gain)
    parts = zip(torch.split(latent.detach().view(-1), PART), torch.split(weight.view(-1), PART), strict=True)
    for source, target in parts:
        torch.ops.aten.softshrink.out(source, limit, out=target).mul_(scale)
    return weight
