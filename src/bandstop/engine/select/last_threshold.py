"""The next threshold of a layer, looked for where the last ones point to: exact, in one read of the weights.

From one renewal to the next a threshold moves about as far as before. One pass counts the magnitudes below a
bracket around where it would then be and takes out those within it; the one of the wanted rank is among them,
or else the search starts anew without a guess.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

__all__ = ["LastThreshold"]

WORTH = 1 << 13
"""Weights of a layer for which numba is loaded."""
CROWDED = 16
"""A bracket that holds more than one in so many weights is too wide."""
_PLAIN = (Tensor, torch.nn.Parameter)
_LOADED: list[Any] = []


@dataclass
class LastThreshold:
    """Where a layer's threshold was, how far it had moved, and how wide the next one is looked for.

    >>> last, values = LastThreshold(), torch.randn(9000, generator=torch.Generator().manual_seed(0))
    >>> last.next(values, 8000) is None
    True
    >>> last.note(values.abs().kthvalue(7990).values)
    >>> bool(last.next(values, 8000) == values.abs().kthvalue(8000).values)
    True
    """

    value: float | None = None
    drift: float = 0.0
    width: float = 0.0

    def next(self, latent: Tensor, rank: int) -> Tensor | None:
        """The magnitude of this ``rank`` (from 1) of ``latent``, a scalar; None where it is not found so."""
        kernel = _kernel_for(latent)
        if kernel is None or self.value is None:
            return None
        count, centre = latent.numel(), self.value + self.drift
        low, high = centre - self.width, centre + self.width
        found = kernel(latent.data_ptr(), count, rank, low, high, count // CROWDED + 64)
        return (
            None
            if math.isnan(found)
            else torch.scalar_tensor(found, dtype=latent.dtype, device=latent.device)
        )

    def helps(self, latent: Tensor) -> bool:
        """Whether ``next`` can be of use."""
        return _kernel_for(latent) is not None

    def note(self, threshold: Tensor) -> None:
        """Take over what was found."""
        value = float(threshold)
        if self.value is None:
            self.value, self.width = value, 0.1 * value
            return
        missed = abs(value - self.value - self.drift)
        self.value, self.drift = value, value - self.value
        self.width = max(4 * missed, self.width / 2, 1e-6 * value)


def _kernel_for(latent: Tensor) -> Any:
    """The compiled pass, where it is installed and can be used."""
    if type(latent) not in _PLAIN or not latent.is_cpu or torch._C._len_torch_dispatch_stack():
        return None
    if latent.dtype is not torch.float32 or not latent.is_contiguous():
        return None
    if _LOADED:
        return _LOADED[0]
    return _compiled() if latent.numel() >= WORTH else None


@cache
def _compiled() -> Any:
    try:
        from bandstop.engine.select.topk_numba import kth_between
    except ImportError:
        return None
    _LOADED.append(kth_between)
    return kth_between
