"""Batch normalisation of a trained network is an affine map: its factor and offset."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["affine"]


def affine(norm: nn.BatchNorm1d, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """``(factor, offset)`` with ``norm(x) = factor · x + offset`` in evaluation mode, computed in ``dtype``.

    >>> norm = nn.BatchNorm1d(1, eps=0.0)
    >>> norm.running_mean, norm.running_var = torch.tensor([3.0]), torch.tensor([4.0])
    >>> [float(part.detach()) for part in affine(norm, torch.float32)]
    [0.5, -1.5]
    """
    if norm.running_mean is None or norm.running_var is None:
        raise ValueError("a normalisation without running statistics is no affine map")
    factor = torch.rsqrt(norm.running_var.to(dtype) + norm.eps)
    if norm.weight is not None:
        factor = factor * norm.weight.to(dtype)
    offset = -norm.running_mean.to(dtype) * factor
    if norm.bias is not None:
        offset = offset + norm.bias.to(dtype)
    return factor, offset
