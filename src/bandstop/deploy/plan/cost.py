"""What each code form of an operation costs, in nanoseconds on the machine it was measured on.

Only ratios matter. The constants are hand-fitted to measured times (within a factor of two) on trained
networks of 39 k and 251 k weights at 55 to 99 % (AMD EPYC, Zen 3, 3.2 GHz, clang 14): `python
benchmarks/deploy_costs.py RUN…` shows both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandstop.deploy.ir.program import Affine, Ints, Term
from bandstop.deploy.plan import LANES

__all__ = [
    "MACHINE",
    "Machine",
    "block_cost",
    "dense_row_cost",
    "row_blocks",
    "row_cost",
    "rows_possible",
    "rows_time",
    "scan_cost",
    "vectors",
]


@dataclass(frozen=True)
class Machine:
    """Measured costs."""

    straight: float = 0.32
    """One multiply-accumulate in straight-line code."""
    straight_weight: float = 0.15
    """Loading a shared weight in straight-line code."""
    straight_vector: float = 0.2
    """Eight multiply-accumulates over neighbouring elements in straight-line code."""
    straight_result: float = 0.4
    """Storing one result (or vector of them) of straight-line code."""
    code_limit: float = 22_000
    """Bytes of straight-line code above which it no longer fits the instruction cache and compiles slowly."""
    interleaved: float = 0.13
    """One multiply-accumulate of interleaved straight-line code."""
    interleaved_far: float = 0.18
    """As `interleaved`, where one-byte displacements do not reach the sources."""
    interleaved_long: float = 0.33
    """As `interleaved_far`, once the code no longer fits the instruction cache."""
    far_limit: int = 1400
    """Number of far reads above which `interleaved_long` applies."""
    interleaved_step: float = 0.2
    """One multiplication of eight interleaved values by their weights."""
    interleaved_group: float = 1.0
    """Starting and storing eight interleaved results."""
    interleave_loop_step: float = 1.9
    """Eight multiply-accumulates in the loop over interleaved results."""
    interleave_loop_group: float = 2.5
    """Starting and storing eight results of that loop."""
    scan: float = 0.42
    """One multiply-accumulate in an index loop."""
    scan_row: float = 1.5
    """Starting a row of an index loop."""
    row_weight: float = 0.3
    """Loading a shared weight and its index in an index loop."""
    row: float = 0.17
    """Eight multiply-accumulates with a shared weight in an index loop."""
    row_start: float = 0.6
    """Starting such a row."""
    empty_row: float = 2.0
    """Clearing a row that no entry reaches."""
    block: float = 0.2
    """Eight multiply-accumulates of a dense block."""
    block_once: float = 0.37
    """As `block`, where each weight is used once, so that the time goes into reading weights."""
    block_far: float = 0.48
    """As `block_once`, where the weights do not fit the second-level cache."""
    far_bytes: int = 400_000
    """Bytes of weights above which `block_far` applies."""
    block_start: float = 8.0
    """Starting a dense block."""
    transpose: float = 5.0
    """Transposing eight by eight values."""
    dense_row: float = 0.17
    """Eight multiply-accumulates with shared weights, four dense rows at a time."""


MACHINE = Machine()


def vectors(width: int) -> int:
    """Vector registers that hold ``width`` values."""
    return -(-width // LANES)


def rows_possible(operation: Affine, sizes: dict[str, int]) -> bool:
    """Whether whole vectors can be read and written along every entry's connections."""
    if len(operation.terms) != 1:
        return False
    term = operation.terms[0]
    span = vectors(term.width) * LANES
    if term.width < 4 or span > 6 * LANES or term.dst_step != 1 or term.src_step != 1:
        return False
    rows = np.unique(term.rows)
    gaps = np.diff(rows).min(initial=span)
    return bool(
        gaps >= span
        and term.columns.max() + span <= sizes[term.src]
        and rows[-1] + span <= sizes[operation.dst]
    )


def row_cost(term: Term, machine: Machine = MACHINE) -> float:
    """An index loop over entries, vectors over the connections that share a weight."""
    return rows_time(len(term), len(np.unique(term.rows)), vectors(term.width), machine)


def rows_time(entries: int, rows: int, loads: int, machine: Machine) -> float:
    """The loop over ``rows`` rows of ``entries`` weights in all, ``loads`` vectors wide."""
    return entries * (machine.row_weight + loads * machine.row) + rows * machine.row_start


def dense_row_cost(term: Term, machine: Machine = MACHINE) -> float:
    """All rows times all columns, zeros included."""
    area = len(np.unique(term.rows)) * len(np.unique(term.columns))
    return area * vectors(term.width) * machine.dense_row


def row_blocks(rows: Ints) -> list[Ints]:
    """Distinct destinations split where neighbours are further apart than a vector.

    >>> [b.tolist() for b in row_blocks(np.array([0, 1, 3, 40, 41]))]
    [[0, 1, 3], [40, 41]]
    """
    distinct = np.unique(rows)
    return list(np.split(distinct, np.flatnonzero(np.diff(distinct) > LANES) + 1)) if len(distinct) else []


def block_cost(term: Term, machine: Machine = MACHINE) -> float:
    """Dense blocks: each source value times a vector of weights."""
    loads, starts = 0, 0
    for block in row_blocks(term.rows):
        inside = (term.rows >= block[0]) & (term.rows <= block[-1])
        loads += len(np.unique(term.columns[inside])) * vectors(int(block[-1] - block[0]) + 1)
        starts += 1
    far = 4 * LANES * loads > machine.far_bytes
    once = machine.block_far if far else machine.block_once
    each = machine.block if term.width > 1 else once
    return loads * term.width * each + starts * machine.block_start


def scan_cost(operation: Affine, machine: Machine = MACHINE) -> float:
    """A scalar index loop."""
    rows = sum(len(np.unique(t.rows)) * t.width for t in operation.terms)
    return sum(len(t) * t.width for t in operation.terms) * machine.scan + rows * machine.scan_row
