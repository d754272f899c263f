"""Batch normalisation's running statistics, measured anew for a network whose weights were changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from bandstop.errors import ConfigError

__all__ = ["recalibrate", "running_norms"]


def running_norms(model: nn.Module) -> list[_BatchNorm]:
    """The normalisations that keep running statistics.

    >>> len(running_norms(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.LayerNorm(3))))
    1
    """
    return [m for m in model.modules() if isinstance(m, _BatchNorm) and m.track_running_stats]


@torch.no_grad()
def recalibrate(model: nn.Module, batches: Iterable[Any]) -> int:
    """Replace running means and variances by plain averages over ``batches``; returns their number.

    A batch is the model's input, a tuple of positional or a dict of keyword arguments. Nothing is trained and
    everything but the normalisations is in evaluation mode meanwhile; the model is left in evaluation mode.

    >>> model = nn.BatchNorm1d(1)
    >>> recalibrate(model, [torch.tensor([[1.0], [3.0]])])
    1
    >>> model.running_mean.item(), model.running_var.item()
    (2.0, 2.0)
    """
    norms = running_norms(model)
    momenta = [norm.momentum for norm in norms]
    model.eval()
    seen = 0
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a plain average
        norm.train()
    try:
        for batch in batches:
            if isinstance(batch, dict):
                model(**batch)
            elif isinstance(batch, tuple):
                model(*batch)
            else:
                model(batch)
            seen += 1
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
            norm.eval()
    if norms and not seen:
        raise ConfigError("statistics of batch normalisation need at least one batch, found none")
    return seen
