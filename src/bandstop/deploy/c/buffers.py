"""Where the tensors of an emitted network lie, and the tables and loops its code uses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.text import Tables
from bandstop.deploy.plan.cost import LANES

__all__ = ["Places"]


class Places:
    """Tensors live in the workspace (``work`` counts its floats), the input and the output where the caller put them."""

    def __init__(self, source: str, output: str) -> None:
        self.tables, self.kernels, self.work = Tables(), set[str](), 0
        self._output = output
        self._base: dict[str, tuple[str, int]] = {source: ("signal", 0)}
        self._order: dict[str, NDArray[np.int64]] = {}

    def room(self, name: str, size: int, order: NDArray[np.int64] | None = None) -> None:
        """Give a tensor its place, with slack so that whole vectors may be stored; ``order`` if its elements moved."""
        if name == self._output:
            self._base[name] = ("scores", 0)
        elif name not in self._base:
            self._base[name] = ("work", self.work)
            self.work += -(-size // LANES) * LANES
        if order is not None:
            self._order[name] = order

    def move(self, name: str, base: str) -> tuple[str, int]:
        """Let a tensor's name stand for another C expression; returns what it was."""
        before = self._base[name]
        self._base[name] = (base, 0)
        return before

    def restore(self, name: str, before: tuple[str, int]) -> None:
        self._base[name] = before

    def start(self, name: str) -> str:
        """C expression of a tensor's first value."""
        base, offset = self._base[name]
        return f"({base} + {offset})" if offset else base

    def address(self, name: str, element: int) -> tuple[str, int]:
        """Array and index at which one element lies."""
        base, offset = self._base[name]
        order = self._order.get(name)
        return base, offset + (element if order is None else int(order[element]))

    def element(self, name: str, element: int) -> str:
        """C expression of one element."""
        base, index = self.address(name, element)
        return f"{base}[{index}]"
