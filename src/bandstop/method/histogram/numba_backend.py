"""The histogram's two passes over the weights as fused loops for one CPU thread (needs numba, float32 only).

Same formulas and tables as ``bandstop.method.histogram.torch_backend``; importing this module needs numba.
Every size comes in as an argument: a function compiled earlier would not notice a changed constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from bandstop.method.compiled import compiled
from bandstop.method.histogram.torch_backend import polynomials

__all__ = ["FusedPasses", "deposit", "fold", "lookup_add", "spread"]

_Floats = np.ndarray[Any, np.dtype[np.float32]]
_Doubles = np.ndarray[Any, np.dtype[np.float64]]
_Integers = np.ndarray[Any, np.dtype[np.int32]]
_BLOCK = 512  # weights located by vector instructions before they are scattered one by one
_ZERO, _HALF, _ONE = np.float32(0), np.float32(0.5), np.float32(1)


def _locate(
    values: _Floats, per_unit: float, limit: float, cells: int, cell: _Integers, place: _Floats
) -> int:
    """Find for each value its cell and its place there in [−½, ½]; return how many lie outside the limit."""
    scale, edge, middle = np.float32(per_unit), np.float32(limit), np.int32(cells // 2)
    lowest, highest = np.float32(-(cells // 2)), np.float32(cells - cells // 2 - 1)
    outside = np.int32(0)
    for i in range(values.size):
        outside += np.int32(abs(values[i]) > edge)
        scaled = values[i] * scale
        floor = np.floor(scaled)
        place[i] = scaled - floor - _HALF
        floor = floor if floor > lowest else lowest
        floor = floor if floor < highest else highest
        cell[i] = np.int32(floor) + middle
    return int(outside)


locate = compiled(_locate)


def _deposit(values: _Floats, per_unit: float, width: float, limit: float, table: _Floats) -> float:
    """Add the moments of ``values`` to ``table`` [3, cells]; return the sum of their ρ."""
    edge, per_bin = np.float32(limit), np.float32(1 / width)
    cell, place = np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.float32)
    zeroth, first, second = table[0], table[1], table[2]
    total = 0.0
    for start in range(0, values.size, _BLOCK):
        block = values[start : start + _BLOCK]
        outside = locate(block, per_unit, limit, table.shape[1], cell, place)
        for i in range(block.size):
            k, t = cell[i], place[i]
            zeroth[k] += _ONE
            first[k] += t
            second[k] += t * t
        if outside:
            for i in range(block.size):
                x = max(abs(block[i]) - edge, _ZERO) * per_bin
                c = min(x, _ONE)
                total += c * (x - _HALF * c)
    return total


def _lookup_add(
    gradient: _Floats,
    values: _Floats,
    per_unit: float,
    width: float,
    limit: float,
    table: _Floats,
    tail: float,
) -> None:
    """Add to ``gradient`` the slope ``table`` [3, cells] holds for each value, and ``tail`` times ρ's."""
    edge, per_bin, pull = np.float32(limit), np.float32(1 / width), np.float32(tail)
    cell, place = np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.float32)
    zeroth, first, second = table[0], table[1], table[2]
    for start in range(0, values.size, _BLOCK):
        block = values[start : start + _BLOCK]
        outside = locate(block, per_unit, limit, table.shape[1], cell, place)
        for i in range(block.size):
            k, t = cell[i], place[i]
            gradient[start + i] += zeroth[k] + t * (first[k] + t * second[k])
        if outside:
            for i in range(block.size):
                x = max(abs(block[i]) - edge, _ZERO) * per_bin
                gradient[start + i] += pull * np.copysign(min(x, _ONE), block[i])


def _fold(table: _Floats, polynomials: _Floats, counts: _Doubles) -> None:
    """Moments of cells → Σ φ, added to the ``counts`` of each bin."""
    orders, window, cells = polynomials.shape
    for order in range(orders):
        for row in range(table.shape[1] // cells):
            moments = table[order, row * cells : (row + 1) * cells]
            for i in range(max(0, row - counts.size + 1), min(window, row + 1)):
                source = polynomials[order, i]
                total = _ZERO
                for c in range(cells):
                    total += moments[c] * source[c]
                counts[row - i] += total


def _spread(gradient: _Doubles, polynomials: _Floats, table: _Floats) -> None:
    """Gradient over bins → the polynomial of the slope in each cell; ``polynomials`` have a reversed
    window.
    """
    orders, window, cells = polynomials.shape
    for order in range(orders):
        for row in range(table.shape[1] // cells):
            target = table[order, row * cells : (row + 1) * cells]
            target[:] = _ZERO
            for i in range(max(0, row - gradient.size + 1), min(window, row + 1)):
                factor = np.float32(gradient[row - i])
                source = polynomials[order, window - 1 - i]
                for c in range(cells):
                    target[c] += factor * source[c]


deposit = compiled(_deposit)
lookup_add = compiled(_lookup_add)
fold = compiled(_fold)
spread = compiled(_spread)


class FusedPasses:
    """Both passes over the weights, with the interface of
    ``bandstop.method.histogram.torch_backend.TorchPasses``.
    """

    size = 1 << 18

    def __init__(self, per_unit: float, width: float, limit: float) -> None:
        self.geometry = per_unit, width, limit

    def fold(self, table: Tensor, counts: Tensor) -> None:
        """Add to ``counts`` the Σ φ of each bin from the moments of all cells."""
        fold(table.numpy(), polynomials(table.dtype, table.device)[0].numpy(), counts.numpy())

    def spread(self, gradient: Tensor, table: Tensor) -> None:
        """Fill ``table`` with the polynomial of d(Σ_k g_k·φ)/dw in each cell, w in bins."""
        spread(gradient.numpy(), polynomials(table.dtype, table.device)[1].numpy(), table.numpy())

    def deposit(self, values: Tensor, table: Tensor) -> float:
        """Add the moments of ``values`` to ``table``; return the sum of their ρ, the tail penalty."""
        return float(deposit(values.numpy(), *self.geometry, table.numpy()))

    def lookup_add_(self, gradient: Tensor, values: Tensor, table: Tensor, tail: Tensor) -> None:
        """Add to ``gradient`` the slope that ``table`` holds for each value, and ``tail`` times that of ρ."""
        direct = gradient.dtype == torch.float32
        out = gradient if direct else torch.zeros(gradient.shape)
        lookup_add(out.numpy(), values.numpy(), *self.geometry, table.numpy(), float(tail))
        if not direct:
            gradient.add_(out)
