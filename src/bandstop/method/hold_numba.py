"""All layers of a network held to a prior in one call: map, threshold and chart (numba, float32 on the CPU).

To hand them to torch one number after the other takes longer than the map (``bandstop.method.transport``,
``bandstop.method.chart``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bandstop.method.compiled import by_address, compiled
from bandstop.method.transport_numba import LOOPS

__all__ = ["hold_layers"]

_TINY = np.float32(1e-30)

measure, count_cells, move = LOOPS


def _renew_chart(
    threshold: Any, spread: Any, ratio: float, reach: float, chart: int, at: Any, row: int
) -> None:
    """Cells, scale and level, whose addresses are ``at`` this ``row``, before that of the table."""
    per_unit, stretch = np.float32(chart / (reach * max(spread, _TINY))), np.float32(spread * ratio)
    along = min(threshold * per_unit, np.float32(chart))
    cell, table = min(int(along), chart - 1), at[row + 3]
    level = table[cell] + (along - np.float32(cell)) * (table[cell + 1] - table[cell])
    at[row][0], at[row + 1][0], at[row + 2][0] = per_unit, stretch, level * stretch


renew_chart = compiled(_renew_chart)


def _hold_layers(
    at: Any,
    bits: Any,
    counts: Any,
    numbers: Any,
    layers: int,
    fraction: float,
    mean: float,
    cells: int,
    chart: int,
    below: Any,
    ends: Any,
    largest: Any,
    largest_bits: Any,
) -> int:
    """Move the values of ``layers`` the ``fraction`` of the way to the prior and renew what follows from it.

    Of each layer ``at`` has eight addresses: values, the prior's quantiles of their ranks, threshold,
    stretch, and cells, scale, level and table of the chart (``bits`` is the same). ``numbers`` has six: F⁻¹
    of the layer's rate, its gain, the prior's scale ÷ the spread, the chart's reach, and room for two.
    ``mean`` is E|F|, ``cells`` are those of the map, ``chart`` those of a chart, 0 without charts. ``below``
    (2·cells + 2), ``ends`` (2·cells) and ``largest`` are room to work in.

    Returns how many stretches are not the gain, or −1 if nothing was moved: a layer has no finite scale.
    """
    for i in range(layers):
        numbers[6 * i + 4] = measure(at[8 * i], bits[8 * i], counts[i], largest_bits) / mean
        reach = largest[0]
        numbers[6 * i + 5] = cells / max(2.0 * float(reach), 1e-300)
        if not (0 < reach < np.inf and np.float32(numbers[6 * i + 5]) < np.inf):
            return -1
    others = 0
    for i in range(layers):
        values, quantiles, count, scale = at[8 * i], at[8 * i + 1], counts[i], np.float32(numbers[6 * i + 4])
        per_unit = numbers[6 * i + 5]
        count_cells(values, count, per_unit, cells, below)
        for k in range(cells):
            ends[k] = quantiles[min(below[k], count - 1)] * scale
            ends[cells + k] = quantiles[max(below[k + 1] - 1, 0)] * scale
        spread = np.float32(move(values, count, per_unit, cells, ends, fraction) / mean)
        numbers[6 * i + 4] = float(spread)
        threshold = np.float32(spread * numbers[6 * i])
        at[8 * i + 2][0] = threshold
        gain = np.float32(numbers[6 * i + 1])
        others += int(gain == gain and at[8 * i + 3][0] != gain)  # NaN: the gain is trained
        if chart:
            row = 8 * i + 4
            renew_chart(threshold, spread, numbers[6 * i + 2], numbers[6 * i + 3], chart, at, row)
    return others


_WHERE, _ROOM = ("float32**", "int32**", "int64*", "float64*"), ("int32*", "float32*", "float32*", "int32*")
hold_layers = by_address("int64", *_WHERE, "int64", "float64", "float64", "int64", "int64", *_ROOM)(
    _hold_layers
)
