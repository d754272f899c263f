"""Where a layer's latents and the levels of its gate lie in memory, for compiled loops that write there."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.attach.parametrisation import PrunedLayer

__all__ = ["LEVELS", "Place"]

LEVELS = ("threshold", "stretch", "cells", "scale", "level", "table")
"""Buffers of a band that the loops read and write; the first two of every band."""


class Place:
    """Where the numbers of ``layer`` lie: the ``count`` latents that may be kept from ``start`` on.

    >>> from bandstop import Pruner
    >>> net = nn.Sequential(nn.Linear(30, 20))
    >>> place = Place(Pruner(net, 0.5, steps=9).layers[0])
    >>> place.found, place.count, place.stays()
    (True, 600, True)
    >>> net = net.double()
    >>> place.stays()
    False
    """

    def __init__(self, layer: PrunedLayer) -> None:
        (module, name), band = layer.owners[0], layer.band
        assert band is not None
        made: Any = module.parametrizations
        self.parameters, self.buffers = made[name]._parameters, band._buffers
        self.latent, self.levels = layer.latent, [self.buffers[n] for n in LEVELS if n in self.buffers]
        self.found = all(map(_plain, (self.latent, *self.levels)))
        """Whether all are float32 on the CPU, without gaps."""
        if self.found:
            self.start, self.count = _free(self.latent, layer.padding)
            self.addresses = [level.data_ptr() for level in self.levels]  # type: ignore[union-attr]
            self._known, self._first = list(map(id, self.buffers.values())), self.latent.data_ptr()

    def stays(self) -> bool:
        """Whether all is where it was.

        To look at each tensor takes a third of the map's time right after a training step, when all of them
        are out of the processor's cache: the dictionaries are asked, and one address of each kind. What moves
        the memory of a buffer moves that of all.
        """
        if self.parameters["original"] is not self.latent or self.latent.data_ptr() != self._first:
            return False
        first: Any = self.levels[0]
        return list(map(id, self.buffers.values())) == self._known and first.data_ptr() == self.addresses[0]


def _plain(tensor: Any) -> bool:
    known = type(tensor) in (Tensor, nn.Parameter) and tensor.dtype is torch.float32
    return known and tensor.is_cpu and tensor.is_contiguous()


def _free(latent: Tensor, padding: int | None) -> tuple[int, int]:
    """Where the entries that may be kept begin, and how many they are; none if they lie apart."""
    start, count = latent.data_ptr(), latent.numel()
    if padding is None:
        return start, count
    row = count // len(latent)
    if padding not in (0, len(latent) - 1):
        return start, 0
    return start + (0 if padding else latent.element_size() * row), count - row
