"""Dropout from random bytes: on a CPU, uniform floats took a quarter of a training step."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["ByteDropout"]


class ByteDropout(nn.Dropout):
    """Drops an activation if its random byte is below 256·p (so p is met to 1/512) and scales up the rest.

    >>> _ = torch.manual_seed(0)
    >>> kept = ByteDropout(0.25)(torch.ones(1000, 1000))
    >>> kept.unique().tolist(), round(kept.mean().item(), 2)
    ([0.0, 1.3333333730697632], 1.0)
    """

    def forward(self, signal: Tensor) -> Tensor:
        below = round(256 * self.p)
        if not self.training or below == 0:
            return signal
        words = torch.empty(-(-signal.numel() // 8), dtype=torch.int64, device=signal.device)
        noise = words.random_(-(2**63), None).view(torch.uint8)[: signal.numel()].view(signal.shape)
        return signal * ((noise >= below) * (256 / (256 - below) if below < 256 else 0.0))
