"""A trained network's normalisations as arrays that go into a file: factor and offset."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bandstop.errors import ExportError
from bandstop.nets.affine import affine

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
    factor, offset = affine(norm, torch.float64)
    return array(factor), array(offset)
