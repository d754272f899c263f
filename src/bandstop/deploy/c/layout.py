"""Where a program wants the values of its signal: what a front end must know to write them there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandstop.deploy.c.text import Tables
from bandstop.deploy.ir.program import Ints, Program
from bandstop.record.signal import PARTS
from bandstop.skeleton.normalise import Normaliser

__all__ = ["SignalLayout", "chunk_values", "small_index"]


def small_index(values: Ints) -> str:
    """The smallest C type that holds whole numbers from zero on.

    >>> small_index(np.array([0, 300]))
    'uint16_t'
    """
    most = int(values.max(initial=0))
    return "uint8_t" if most < 256 else "uint16_t" if most < 65536 else "uint32_t"


def chunk_values(normaliser: Normaliser) -> int:
    """Values of a joint in a chunk.

    >>> chunk_values(Normaliser(0, (), (1.0,)))
    3
    """
    return sum(PARTS[part.name] for part in normaliser.parts) or 3


@dataclass(frozen=True)
class SignalLayout:
    """Value k of joint v in chunk m lies at ``moments[m] + k·value + v·joint``.

    k counts what every joint has; the values that they share stand at ``moments[m] + shared[…]``.
    """

    joint: int
    value: int
    moments: Ints
    shared: dict[int, int]
    """By their place among all values of a chunk."""

    @staticmethod
    def of(program: Program, normaliser: Normaliser) -> SignalLayout:
        """As the program's input lies."""
        count, chunks = chunk_values(normaliser), normaliser.chunks
        joints = len(normaliser.node_scale)
        flat = program.input_index.reshape(joints, -1)[:, : chunks * count]
        index = flat.reshape(joints, chunks, count)
        joint = int(index[1, 0, 0] - index[0, 0, 0]) if joints > 1 else 1
        once = [k for k in normaliser.shared if (index[1:, 0, k] < 0).all()]
        shared = {k: int(index[0, 0, k] - index[0, 0, 0]) for k in once}
        return SignalLayout(joint, int(index[0, 0, 1] - index[0, 0, 0]), index[0, :, 0], shared)

    @property
    def row(self) -> int | None:
        """The distance of every chunk from the one before it; None where they lie otherwise."""
        steps = np.unique(np.diff(self.moments)) if len(self.moments) > 1 else np.zeros(1, np.int64)
        return int(steps[0]) if len(steps) == 1 and self.moments[0] == 0 else None

    def at_moment(self, number: str, tables: Tables) -> str:
        """C of where a chunk begins; its ``number`` is C too."""
        if self.row is not None:
            return f"{number} * {self.row}"
        return f"{tables.add(small_index(self.moments), self.moments)}[{number}]"

    def at_joint(self, number: str = "v") -> str:
        """C of where a joint lies in its row."""
        return number if self.joint == 1 else f"{self.joint} * {number}"
