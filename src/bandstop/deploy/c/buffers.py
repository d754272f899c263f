"""The buffers of an emitted network: where its tensors lie, and the tables and kernels its code uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bandstop.deploy.c.text import Tables
from bandstop.deploy.ir.program import Ints
from bandstop.deploy.plan import LANES

__all__ = ["Buffers"]


class Buffers:
    """Tensors have offsets in the workspace (``work`` counts its floats).

    Input and output are the caller's arrays.
    """

    def __init__(self, source: str, output: str) -> None:
        self.tables, self.kernels, self.work = Tables(), set[str](), 0
        self._output = output
        self._base: dict[str, tuple[str, int]] = {source: ("signal", 0)}
        self._positions: dict[str, Ints] = {}

    def reserve(self, name: str, size: int, positions: Ints | None = None) -> None:
        """Give a tensor its offset, with slack so that whole vectors may be stored.

        ``positions`` if not in order.
        """
        if name == self._output:
            self._base[name] = ("scores", 0)
        elif name not in self._base:
            self._base[name] = ("work", self.work)
            self.work += -(-size // LANES) * LANES
        if positions is not None:
            self._positions[name] = positions

    @contextmanager
    def aliased(self, name: str, base: str) -> Iterator[None]:
        """Let a tensor's name stand for another C expression for a while."""
        before = self._base[name]
        self._base[name] = (base, 0)
        yield
        self._base[name] = before

    def start(self, name: str) -> str:
        """C expression of a tensor's first value."""
        base, offset = self._base[name]
        return f"({base} + {offset})" if offset else base

    def address(self, name: str, element: int) -> tuple[str, int]:
        """Array and index at which one element lies."""
        base, offset = self._base[name]
        positions = self._positions.get(name)
        return base, offset + (element if positions is None else int(positions[element]))

    def element(self, name: str, element: int) -> str:
        """C expression of one element."""
        base, index = self.address(name, element)
        return f"{base}[{index}]"
