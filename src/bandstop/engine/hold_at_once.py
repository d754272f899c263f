"""All layers held to the prior in one call of compiled loops, where these apply
(``bandstop.method.hold_numba``).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.engine.place_in_memory import LEVELS, Place
from bandstop.engine.thresholds import Aims
from bandstop.method.chart import CELLS as CHART
from bandstop.method.chart import chart_reach
from bandstop.method.priors import Prior
from bandstop.method.transport import CELLS, TABULATED, mean_magnitude, rank_quantiles, worth_compiled

__all__ = ["HoldAtOnce"]


class HoldAtOnce:
    """Moves the latents of all ``layers`` towards ``prior`` and renews their thresholds and charts.

    For float32 weights on the CPU, layers of up to ``TABULATED`` of them, with numba.
    """

    def __init__(self, layers: Sequence[PrunedLayer], prior: Prior) -> None:
        self.layers, self.prior, self.mean = layers, prior, mean_magnitude(prior)
        self.places: list[Place] = []
        self.tables: dict[int, Tensor] = {}
        self.addresses, self.counts, self.numbers = array("q"), array("q"), array("d")
        self.aims: Aims | None = None
        # Two tables of counts, both ends of cells, and the largest magnitude.
        self.room = torch.empty(2 * (CELLS + 1) + 2 * CELLS + 1, dtype=torch.int32, device="cpu")

    def usable(self) -> bool:
        """Whether all layers lie in memory as the loops want them; notes where."""
        if self.places and all(place.stays() for place in self.places):
            return True
        self.places = []
        if not worth_compiled(max(layer.latent.numel() for layer in self.layers)) or _loops() is None:
            return False
        places = [Place(layer) for layer in self.layers]
        if not all(place.found and 0 < place.count <= TABULATED for place in places):
            return False
        self.places, self.addresses, self.counts = places, array("q"), array("q")
        for place in places:
            missing = [0] * (len(LEVELS) - len(place.addresses))
            self.addresses.extend((place.start, self._table(place.count), *place.addresses, *missing))
            self.counts.append(place.count)
        return True

    def __call__(self, fraction: float, temperature: float, aims: Aims) -> bool:
        """Go the ``fraction`` of the way, where ``usable``; False if a layer has no finite scale to go by."""
        if aims is not self.aims:
            self.numbers, self.aims = self._numbers(aims), aims
        at, counts, numbers = (a.buffer_info()[0] for a in (self.addresses, self.counts, self.numbers))
        below, layers = self.room.data_ptr(), len(self.layers)
        ends = below + 8 * (CELLS + 1)
        largest = ends + 8 * CELLS
        chart, room = 0 if aims.scales is None else CHART, (below, ends, largest, largest)
        others = _loops()(at, at, counts, numbers, layers, fraction, self.mean, CELLS, chart, *room)
        if others < 0:
            return False
        for layer in self.layers:
            assert layer.band is not None
            if others or not layer.band.gate.exact:
                layer.band.set_factors(temperature, None if aims.gains is None else aims.gains[layer.name])
        return True

    def _table(self, count: int) -> int:
        """The address of the prior's quantiles, which are kept here: the loops have nothing else of them."""
        if count not in self.tables:
            self.tables[count] = rank_quantiles(self.prior, count)
        return self.tables[count].data_ptr()

    def _numbers(self, aims: Aims) -> array[float]:
        """What the loops are told of each layer."""
        found = array("d")
        for layer, count in zip(self.layers, self.counts, strict=True):
            name = layer.name
            gain = float("nan") if aims.gains is None else aims.gains[name]
            scale, reach = (0.0, 0.0) if aims.scales is None else (aims.scales[name], chart_reach(count))
            found.extend((aims.quantiles[name], gain, scale, reach, 0.0, 0.0))
        return found


@cache
def _loops() -> Any:
    try:
        from bandstop.method.hold_numba import hold_layers
    except ImportError:
        return None
    return hold_layers
