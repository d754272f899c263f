"""The band-stop of a layer whose latents have gaussian coordinates (``bandstop.method.chart``)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from bandstop.engine.attach.parametrisation import BandStop
from bandstop.method.chart import CELLS, Charted, chart_reach, chart_table
from bandstop.method.gate import Gate, Soft
from bandstop.method.gate_autograd import applied
from bandstop.method.gate_on_cpu import looked_up_on_cpu
from bandstop.method.priors import Prior

__all__ = ["ChartedBandStop"]

WIDE = 1e6
"""Spread of an open chart: no latent is beyond its first cell."""


class ChartedBandStop(BandStop):
    """``W = g · Ŵ ⊙ ψ(Ŵ)`` with ``Ŵ = t · F⁻¹(B(Z/s))``: Z is trained, Ŵ follows the prior.

    ``threshold`` is that of Z, as everywhere else; ``level`` is that of Ŵ.
    """

    table: Tensor
    cells: Tensor
    scale: Tensor
    level: Tensor

    def __init__(
        self, gate: Gate, gain: Tensor, prior: Prior, count: int, *, learn_gain: bool = True
    ) -> None:
        super().__init__(gate, gain, learn_gain=learn_gain)
        self.reach = chart_reach(count)
        # Buffers, so that checkpoints and averaged copies have all that the weights depend on.
        self.register_buffer("table", chart_table(prior, count).to(gain, copy=True))
        self.register_buffer("cells", torch.ones_like(gain))
        self.register_buffer("scale", torch.ones_like(gain))
        self.register_buffer("level", torch.zeros_like(gain))

    def set_chart(self, spread: float | Tensor, scale: float | Tensor) -> None:
        """Renew s, the spread of Z, and t, the scale of the prior; after ``set_levels``."""
        if isinstance(spread, Tensor):
            return self._set_on_device(spread, scale)
        self.cells.fill_(CELLS / (self.reach * max(spread, 1e-30)))
        self.scale.fill_(scale)
        along = min(float(self.threshold) * float(self.cells), float(CELLS))
        cell = min(int(along), CELLS - 1) if math.isfinite(along) else 0
        low, high = self.table[cell : cell + 2].tolist()
        self.level.fill_((low + (along - cell) * (high - low)) * scale)

    def _set_on_device(self, spread: Tensor, scale: float | Tensor) -> None:
        """The same without reading a number."""
        self.cells.copy_(CELLS / (self.reach * spread.clamp(min=1e-30)))
        self.scale.copy_(scale)  # type: ignore[arg-type]
        along = (self.threshold * self.cells).clamp(max=CELLS)
        along = torch.where(along.isfinite(), along, 0.0)
        cell = along.to(torch.int64).clamp(max=CELLS - 1).reshape(1)
        low, high = (self.table.index_select(0, cell + step) for step in (0, 1))
        self.level.copy_(((low + (along - cell) * (high - low)) * scale).reshape(()))

    def latent_of(self, trained: Tensor) -> Tensor:
        """Ŵ."""
        found: Tensor = applied(Charted, trained, self.table, self.cells, self.scale)
        return found

    def latent_threshold(self) -> Tensor:
        return self.level

    def forward(self, latent: Tensor) -> Tensor:
        if self.mask is not None:
            return super().forward(latent)
        if isinstance(self.gate, Soft) and self.gate.leak == 1:
            levels = [self._buffers[name] for name in ("threshold", "cells", "scale", "table")]
            weight: Tensor | None = looked_up_on_cpu(latent, self.gain, *levels)  # type: ignore[arg-type]
            if weight is not None:
                return weight
        return self.gate.scaled(self.latent_of(latent), self.gain, self.level, self.temperature)

    def open(self) -> None:
        super().open()
        # A straight line, as wide as any weight: Ŵ = Z, also in averaged copies, which have no mask.
        self.table.copy_(torch.linspace(0, WIDE, CELLS + 1))
        self.cells.fill_(CELLS / WIDE)
        self.scale.fill_(1.0)
        self.level.zero_()
