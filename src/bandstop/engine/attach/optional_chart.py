"""A chart that a band may have: latents that are the prior's image of gaussian numbers, which are trained
(``bandstop.method.chart``).
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from bandstop.engine.attach.optional_mask import OptionalMask
from bandstop.method.chart import CELLS, Charted, chart_reach, chart_table
from bandstop.method.gate import Gate, Soft
from bandstop.method.gate_autograd import applied
from bandstop.method.gate_on_cpu import looked_up_on_cpu
from bandstop.method.priors import Prior

__all__ = ["OptionalChart"]

WIDE = 1e6
"""Spread of an open chart: no latent is beyond its first cell."""


class OptionalChart(OptionalMask):
    """``Ŵ = t · F⁻¹(B(Z/s))`` where there is a chart: Z is trained, Ŵ follows the prior. Without, Ŵ is Z.

    ``threshold`` is that of Z, as everywhere else; ``level`` is that of Ŵ. A chart is made of buffers, so
    that checkpoints and averaged copies have all that the weights depend on; a state that is loaded brings
    its chart along, or takes it away.
    """

    threshold: Tensor
    table: Tensor
    cells: Tensor
    scale: Tensor
    level: Tensor

    @property
    def charted(self) -> bool:
        """Whether there is a chart."""
        return "table" in self._buffers

    def make_chart(self, prior: Prior, count: int) -> None:
        """Have one for ``count`` weights, its numbers like ``threshold``."""
        self._add(chart_table(prior, count).to(self.threshold, copy=True))

    def _add(self, table: Tensor) -> None:
        self.register_buffer("table", table)
        self.register_buffer("cells", torch.ones_like(self.threshold))
        self.register_buffer("scale", torch.ones_like(self.threshold))
        self.register_buffer("level", torch.zeros_like(self.threshold))

    def set_chart(self, spread: float | Tensor, scale: float | Tensor, count: int) -> None:
        """Renew s, the spread of Z, and t, the scale of the prior, after ``threshold``; the chart is that of
        ``count`` weights.
        """
        reach = chart_reach(count)
        if isinstance(spread, Tensor):
            return self._set_on_device(spread, scale, reach)
        self.cells.fill_(CELLS / (reach * max(spread, 1e-30)))
        self.scale.fill_(scale)
        along = min(float(self.threshold) * float(self.cells), float(CELLS))
        cell = min(int(along), CELLS - 1) if math.isfinite(along) else 0
        low, high = self.table[cell : cell + 2].tolist()
        self.level.fill_((low + (along - cell) * (high - low)) * scale)

    def _set_on_device(self, spread: Tensor, scale: float | Tensor, reach: float) -> None:
        """The same without reading a number."""
        self.cells.copy_(CELLS / (reach * spread.clamp(min=1e-30)))
        self.scale.copy_(scale)  # type: ignore[arg-type]
        along = (self.threshold * self.cells).clamp(max=CELLS)
        along = torch.where(along.isfinite(), along, 0.0)
        cell = along.to(torch.int64).clamp(max=CELLS - 1).reshape(1)
        low, high = (self.table.index_select(0, cell + step) for step in (0, 1))
        self.level.copy_(((low + (along - cell) * (high - low)) * scale).reshape(()))

    def open_chart(self) -> None:
        """A straight line, as wide as any weight: Ŵ = Z, also in averaged copies, which have no mask."""
        self.table.copy_(torch.linspace(0, WIDE, CELLS + 1))
        self.cells.fill_(CELLS / WIDE)
        self.scale.fill_(1.0)
        self.level.zero_()

    def latent_of(self, trained: Tensor) -> Tensor:
        """Ŵ."""
        if not self.charted:
            return trained
        found: Tensor = applied(Charted, trained, self.table, self.cells, self.scale)
        return found

    def latent_threshold(self) -> Tensor:
        """The gate's threshold, in the units of the latents."""
        return self.level if self.charted else self.threshold

    def through_chart(self, trained: Tensor, gate: Gate, gain: Tensor, temperature: Tensor) -> Tensor:
        """``g · Ŵ ⊙ ψ(Ŵ)``."""
        if isinstance(gate, Soft) and gate.leak == 1:
            levels = [self._buffers[name] for name in ("threshold", "cells", "scale", "table")]
            weight: Tensor | None = looked_up_on_cpu(trained, gain, *levels)  # type: ignore[arg-type]
            if weight is not None:
                return weight
        return gate.scaled(self.latent_of(trained), gain, self.level, temperature)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        table = state_dict.get(f"{prefix}table")
        if table is not None and not self.charted:
            self._add(torch.zeros_like(table, device=self.threshold.device))
        elif table is None and self.charted and f"{prefix}threshold" in state_dict:
            for name in ("table", "cells", "scale", "level"):
                delattr(self, name)
        super()._load_from_state_dict(state_dict, prefix, *args)
