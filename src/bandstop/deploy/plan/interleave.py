"""Lane interleaving: eight unrelated results side by side, one in each lane of a vector.

Sparse results share neither weights nor sources, so their products cannot be vectorised over neighbours.
Interleaved, one multiply-add serves eight of them and a weight costs an eighth of a load; what is left is
one load for each source value. Where the readers look results up one by one, results may be stored in any
order, so those with equally many reads share a group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandstop.deploy.ir.program import Floats, Ints
from bandstop.deploy.plan import LANES
from bandstop.deploy.plan.cost import MACHINE, Machine
from bandstop.deploy.plan.straight import Statement

__all__ = [
    "POINTERS",
    "REACH",
    "Group",
    "Read",
    "group_positions",
    "interleave",
    "interleaved_bytes",
    "interleaved_cost",
    "interleaved_loop_cost",
]

Read = tuple[str, int, float]
POINTERS = 13
"""Registers that may hold addresses."""
REACH = 64
"""Values within reach of one address by a displacement of one byte: shorter code is fetched faster."""


@dataclass(frozen=True)
class Group:
    """Up to eight neighbouring results: ``bias + Σ_steps weights ⊙ reads``; a step may lack some lanes."""

    first: int
    count: int
    bias: Floats
    steps: tuple[tuple[Read | None, ...], ...]

    @property
    def reads(self) -> int:
        return sum(read is not None for step in self.steps for read in step)


def interleave(statements: list[Statement], *, ordered: bool) -> list[Group]:
    """Scalar statements in groups of eight, those with many reads first unless ``ordered``.

    >>> one = np.zeros(1, np.float32)
    >>> made = interleave([Statement(0, 1, one, (("x", 3, 0.5),)), Statement(1, 1, one, ())], ordered=True)
    >>> made[0].count, made[0].reads, len(made[0].steps)
    (2, 1, 1)
    """
    groups = []
    arranged = _arranged(statements, ordered)
    for first in range(0, len(arranged), LANES):
        members = arranged[first : first + LANES]
        bias = np.zeros(LANES, np.float32)
        bias[: len(members)] = [s.bias[0] for s in members]
        depth = max(len(s.reads) for s in members)
        steps = tuple(
            tuple(s.reads[e] if e < len(s.reads) else None for s in members)
            + (None,) * (LANES - len(members))
            for e in range(depth)
        )
        groups.append(Group(first, len(members), bias, steps))
    return groups


def _arranged(statements: list[Statement], ordered: bool) -> list[Statement]:
    return statements if ordered else sorted(statements, key=lambda s: -len(s.reads))


def group_positions(statements: list[Statement], size: int, *, ordered: bool) -> Ints:
    """Where `interleave` puts each element of the destination; −1 for those it does not compute."""
    found = np.full(size, -1, np.int64)
    for position, statement in enumerate(_arranged(statements, ordered)):
        found[statement.start] = position
    return found


def interleaved_cost(groups: list[Group], machine: Machine = MACHINE) -> float:
    """Time of interleaved straight-line code.

    Longer where the sources are too far apart for short addresses.
    """
    steps = sum(len(group.steps) for group in groups)
    reads = [read for group in groups for step in group.steps for read in step if read]
    near = len({(src, element // REACH) for src, element, _ in reads}) <= POINTERS
    far = machine.interleaved_far if len(reads) <= machine.far_limit else machine.interleaved_long
    each = machine.interleaved if near else far
    return len(reads) * each + steps * machine.interleaved_step + len(groups) * machine.interleaved_group


def interleaved_loop_cost(groups: list[Group], machine: Machine = MACHINE) -> float:
    """Time of the loop over tables, which reads something for every lane."""
    steps = sum(len(group.steps) for group in groups)
    return steps * machine.interleave_loop_step + len(groups) * machine.interleave_loop_group


def interleaved_bytes(statements: list[Statement]) -> int:
    """About how long interleaved code is: a load for each read, and two instructions for every eight."""
    return 9 * sum(len(s.reads) for s in statements) + 12 * len(statements) // LANES
