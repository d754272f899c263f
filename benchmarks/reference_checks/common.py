"""What the comparisons share: a trained net, differences, and a row of the result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from .digits import Batches, descend, digits, fresh, groups

Row = dict[str, Any]
RATES = (0.9, 0.95, 0.98)


@contextmanager
def float64() -> Iterator[None]:
    """References that compute in the default type are compared without their rounding."""
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def trained() -> nn.Sequential:
    """A dense net after a short training: weights as a method meets them."""
    net = fresh(0)
    descend(torch.optim.AdamW(groups(net)), Batches(net, 0, digits()), steps=100)
    return net


def gap(ours: Tensor, theirs: Tensor) -> float:
    """Largest difference, in units of the reference's largest value."""
    ours, theirs = ours.detach(), theirs.detach()
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp(min=1e-30))


def row(method: str, what: str, compared: int, difference: float, unit: str) -> Row:
    return {"method": method, "what": what, "compared": compared, "difference": difference, "unit": unit}
