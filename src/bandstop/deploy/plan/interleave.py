"""Eight unrelated results side by side: each lane of a vector is another result, each step one weighted read for every lane.

Sparse results share neither weights nor sources, so their products cannot be vectorised over neighbours. Woven, one
multiply-add serves eight of them and a weight costs an eighth of a load; what is left is one load for each source value.
Results may be stored in any order if whoever reads them looks them up one by one, so those with as many reads share a group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.ir.program import Floats
from bandstop.deploy.plan.cost import LANES, MACHINE, Machine
from bandstop.deploy.plan.straight import Statement

__all__ = ["Group", "positions", "weave", "woven_bytes", "woven_cost", "woven_loop_cost"]

Read = tuple[str, int, float]
POINTERS = 13
"""Registers that may hold addresses."""
REACH = 64
"""Values within reach of one address by a displacement of a single byte: shorter code is fetched faster."""


@dataclass(frozen=True)
class Group:
    """Up to eight results at neighbouring places: ``bias + Σ_steps weights ⊙ reads``, where a step may lack some lanes."""

    first: int
    count: int
    bias: Floats
    steps: tuple[tuple[Read | None, ...], ...]

    @property
    def reads(self) -> int:
        return sum(read is not None for step in self.steps for read in step)


def weave(statements: list[Statement], *, ordered: bool) -> list[Group]:
    """Scalar statements in groups of eight, those with many reads first unless ``ordered``.

    >>> one = np.zeros(1, np.float32)
    >>> made = weave([Statement(0, 1, one, (("x", 3, 0.5),)), Statement(1, 1, one, ())], ordered=True)
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


def positions(statements: list[Statement], size: int, *, ordered: bool) -> NDArray[np.int64]:
    """Where `weave` puts each element of the destination; −1 for those it does not compute."""
    place = np.full(size, -1, np.int64)
    for position, statement in enumerate(_arranged(statements, ordered)):
        place[statement.start] = position
    return place


def woven_cost(groups: list[Group], machine: Machine = MACHINE) -> float:
    """Time of woven straight-line code; longer where the sources are too far apart for short addresses."""
    steps = sum(len(group.steps) for group in groups)
    reads = [read for group in groups for step in group.steps for read in step if read]
    near = len({(src, place // REACH) for src, place, _ in reads}) <= POINTERS
    far = machine.woven_far if len(reads) <= machine.far_limit else machine.woven_long
    each = machine.woven if near else far
    return len(reads) * each + steps * machine.woven_step + len(groups) * machine.woven_group


def woven_loop_cost(groups: list[Group], machine: Machine = MACHINE) -> float:
    """Time of the loop over tables, which reads something for every lane."""
    return sum(len(group.steps) for group in groups) * machine.weave_step + len(groups) * machine.weave_group


def woven_bytes(statements: list[Statement]) -> int:
    """About how long woven code is: a load for each read, and two instructions for every eight."""
    return 9 * sum(len(s.reads) for s in statements) + 12 * len(statements) // LANES
