"""KL(P‖Q) + mean ρ and its slopes with two calls per group of tensors (numba, contiguous float32 on the CPU).

Same formulas and tables as ``bandstop.method.histogram.kl``; a few hundred numbers per group are dealt with
here too, because to hand them to torch one operation after the other takes as long as a small layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bandstop.method.compiled import array_at, by_address
from bandstop.method.histogram.numba_backend import deposit, fold, lookup_add, spread
from bandstop.method.histogram.torch_backend import CELLS, polynomials, table_of_cells

__all__ = ["FusedKL"]

_PART = 4096
"""Weights whose slopes stay in the processor's nearest cache."""


def _deposit_at(
    at: Any, count: int, per_unit: float, width: float, limit: float, table_at: Any, columns: int
) -> float:
    """``deposit`` of values at an address."""
    return float(deposit(array_at(at, (count,)), per_unit, width, limit, array_at(table_at, (3, columns))))


def _solve(
    table_at: Any,
    columns: int,
    shape_at: Any,
    cells: int,
    target_at: Any,
    bins: int,
    mean_tail: float,
    floor: float,
    slopes_at: Any,
) -> float:
    """Penalty of a group from its moments; slopes for each sum to ``slopes_at``, K numbers.

    With S = Σ_k H_k, Q = H/S and r = P/(Q + ε): ∂KL/∂H_k = (Σ_j Q_j·r_j − r_k)/S.
    """
    target, sums = array_at(target_at, (bins,)), array_at(slopes_at, (bins,))
    sums[:] = 0.0
    fold(array_at(table_at, (3, columns)), array_at(shape_at, (3, columns // cells - bins + 1, cells)), sums)
    total, mean, penalty, whole = 0.0, 0.0, mean_tail, 1 + bins * floor
    for k in range(bins):
        total += sums[k]
    total = max(total, 1e-12)
    for k in range(bins):
        share = sums[k] / total
        if target[k] > 0:
            penalty += target[k] * np.log(target[k] / ((share + floor) / whole))
        ratio = target[k] / (share + floor)
        mean += share * ratio
        sums[k] = ratio
    for k in range(bins):
        sums[k] = (mean - sums[k]) / total
    return penalty


def _spread_at(slopes_at: Any, bins: int, factor: float, shape_at: Any, cells: int, table_at: Any) -> None:
    """``spread`` of ``factor`` times the slopes to a table at an address."""
    columns, slopes = (bins + 6) * cells, np.empty(bins, np.float64)
    for k in range(bins):
        slopes[k] = factor * array_at(slopes_at, (bins,))[k]
    spread(slopes, array_at(shape_at, (3, 7, cells)), array_at(table_at, (3, columns)))


def _write_at(
    out: Any,
    at: Any,
    count: int,
    per_unit: float,
    width: float,
    limit: float,
    table_at: Any,
    columns: int,
    pull: float,
) -> None:
    """``lookup_add`` of values at an address, to zeros: written part by part while they are in the cache."""
    table, slopes, values = array_at(table_at, (3, columns)), array_at(out, (count,)), array_at(at, (count,))
    for start in range(0, count, _PART):
        part = slopes[start : start + _PART]
        part[:] = np.float32(0)
        lookup_add(part, values[start : start + _PART], per_unit, width, limit, table, pull)


_F, _D, _I, _DS = "float32*", "float64", "int64", "float64*"
deposit_at = by_address(_D, _F, _I, _D, _D, _D, _F, _I)(_deposit_at)
solve = by_address(_D, _F, _I, _F, _I, _DS, _I, _D, _D, _DS)(_solve)
spread_at = by_address("void", _DS, _I, _D, _F, _I, _F)(_spread_at)
write_at = by_address("void", _F, _F, _I, _D, _D, _D, _F, _I, _D)(_write_at)


class FusedKL:
    """Both ways over groups of tensors, with bins of the given ``width`` over [−limit, limit]."""

    def __init__(self, width: float, limit: float, target: Tensor, floor: float) -> None:
        self.geometry, self.width = (CELLS / width, width, limit), width
        self.target, self.bins, self.floor = target, target.numel(), floor

    def forward(self, groups: Sequence[Sequence[Tensor]], slopes: Tensor) -> list[float]:
        """Penalties of the groups; slopes [groups, K] for the sums."""
        shape = polynomials(torch.float32, self.target.device)[0].data_ptr()
        penalties = []
        for row, values in enumerate(groups):
            table = table_of_cells("moments", self.bins, torch.float32, self.target.device).zero_()
            at, columns, tail, count = table.data_ptr(), table.shape[1], 0.0, 0
            for value in values:
                tail += deposit_at(value.data_ptr(), value.numel(), *self.geometry, at, columns)
                count += value.numel()
            known = self.target.data_ptr(), self.bins, tail / count, self.floor
            place = slopes.data_ptr() + 8 * self.bins * row
            penalties.append(solve(at, columns, shape, CELLS, *known, place))
        return penalties

    def backward(
        self, pairs: Sequence[Sequence[tuple[Tensor | None, Tensor]]], slopes: Tensor, factors: list[float]
    ) -> None:
        """Write ``factors`` times the slope of each group's penalty to its gradients, whatever these hold."""
        shape = polynomials(torch.float32, self.target.device)[1].data_ptr()
        for row, (group, factor) in enumerate(zip(pairs, factors, strict=True)):
            table = table_of_cells("slopes", self.bins, torch.float32, self.target.device)
            at, columns, unit = table.data_ptr(), table.shape[1], factor / self.width
            spread_at(slopes.data_ptr() + 8 * self.bins * row, self.bins, unit, shape, CELLS, at)
            pull = unit / sum(value.numel() for _, value in group)
            for out, value in group:
                if out is not None:
                    places = out.data_ptr(), value.data_ptr(), value.numel()
                    write_at(*places, *self.geometry, at, columns, pull)
