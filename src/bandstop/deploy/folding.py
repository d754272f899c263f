"""Batch normalisation of a trained network is an affine map: its factor and offset."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bandstop.errors import ExportError

__all__ = ["array", "norm_affine"]

Floats = NDArray[np.float32]


def array(values: torch.Tensor) -> Floats:
    """A detached float32 array."""
    found: Floats = values.detach().to(torch.float32).cpu().numpy()
    return found


def norm_affine(norm: nn.Module, name: str) -> tuple[Floats, Floats]:
    """``(factor, offset)`` with ``norm(x) = factor · x + offset`` in evaluation mode.

    >>> factor, offset = norm_affine(nn.BatchNorm1d(1, eps=0.0).eval(), "norm")
    >>> factor.tolist(), offset.tolist()
    ([1.0], [0.0])
    """
    if not isinstance(norm, nn.BatchNorm1d):
        raise ExportError(f"layer {name}: {type(norm).__name__} cannot be folded; only BatchNorm1d can")
    if norm.running_mean is None or norm.running_var is None:
        raise ExportError(f"layer {name}: normalisation without running statistics cannot be folded")
    mean, var = norm.running_mean.double(), norm.running_var.double()
    factor = torch.rsqrt(var + norm.eps)
    if norm.weight is not None:
        factor = factor * norm.weight.detach().double()
    offset = -mean * factor
    if norm.bias is not None:
        offset = offset + norm.bias.detach().double()
    return array(factor), array(offset)
