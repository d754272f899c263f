"""All layers of a network held to a prior in one call: map, threshold and chart (numba, float32 on the CPU).

To hand them to torch one number after the other takes longer than the map itself (``bandstop.method.transport``,
``bandstop.method.chart``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bandstop.method.compiled import by_address
from bandstop.method.transport_numba import LOOPS

__all__ = ["ADDRESSES", "NUMBERS", "hold_layers"]

ADDRESSES = 8
"""Of a layer: values, the prior's quantiles of their ranks, threshold, stretch, cells, scale, level, table."""
NUMBERS = 6
"""Of a layer: F⁻¹ of its rate, gain, the prior's scale ÷ the spread, reach of the chart, and room for two."""
_TINY = np.float32(1e-30)

measure, count_cells, move = LOOPS


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

    ``at`` has ``ADDRESSES`` of each layer (``bits`` is the same), ``numbers`` ``NUMBERS``, ``mean`` is E|F|.
    ``cells`` are those of the map, ``chart`` those of the charts or 0, where there are none. ``below``
    (2·cells + 2), ``ends`` (cells + 1) and ``largest`` are room to work in. Returns how many stretches are not
    the layer's gain, or −1 if the map does not apply to a layer and nothing was touched.
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
        for k in range(cells + 1):
            ends[k] = quantiles[below[k]] * scale
        spread = np.float32(move(values, count, per_unit, cells, ends, fraction) / mean)
        numbers[6 * i + 4] = float(spread)
        threshold = np.float32(spread * numbers[6 * i])
        at[8 * i + 2][0] = threshold
        gain = np.float32(numbers[6 * i + 1])
        others += int(gain == gain and at[8 * i + 3][0] != gain)  # NaN: the gain is trained
        if chart:
            stretch = np.float32(spread * numbers[6 * i + 2])
            turns = np.float32(chart / (numbers[6 * i + 3] * max(spread, _TINY)))
            along = min(threshold * turns, np.float32(chart))
            cell, table = min(int(along), chart - 1), at[8 * i + 7]
            level = table[cell] + (along - np.float32(cell)) * (table[cell + 1] - table[cell])
            at[8 * i + 4][0], at[8 * i + 5][0], at[8 * i + 6][0] = turns, stretch, level * stretch
    return others


_WHERE, _ROOM = ("float32**", "int32**", "int64*", "float64*"), ("int32*", "float32*", "float32*", "int32*")
hold_layers = by_address("int64", *_WHERE, "int64", "float64", "float64", "int64", "int64", *_ROOM)(
    _hold_layers
)
