"""What each way of writing an operation costs, in nanoseconds on the machine it was measured on.

Only ratios matter. They were set by hand after the clock, step by step (within a factor of two), on trained networks of 39 k and
251 k weights at 55 to 99 % (AMD EPYC, Zen 3, 3.2 GHz, clang 14): `python benchmarks/deploy_costs.py RUN…` shows both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.ir.program import Affine, Term

__all__ = [
    "LANES",
    "MACHINE",
    "Machine",
    "block_cost",
    "dense_row_cost",
    "row_cost",
    "rows_possible",
    "scan_cost",
    "turned_cost",
    "turned_possible",
]

LANES = 8


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
    """Bytes of straight-line code beyond which it no longer fits the instruction cache (and compiles slowly)."""
    woven: float = 0.13
    """One multiply-accumulate of woven straight-line code."""
    woven_far: float = 0.18
    """The same where short addresses do not reach the sources."""
    woven_long: float = 0.33
    """The same where that makes the code too long for the instruction cache beside the rest."""
    far_limit: int = 1400
    """Reads by long addresses from which on it is."""
    woven_step: float = 0.2
    """One multiplication of eight woven values by their weights."""
    woven_group: float = 1.0
    """Starting and storing eight woven results."""
    weave_step: float = 1.9
    """Eight multiply-accumulates in the loop over woven results."""
    weave_group: float = 2.5
    """Starting and storing eight results of that loop."""
    scan: float = 0.42
    """One multiply-accumulate in an index loop."""
    scan_row: float = 1.5
    """Starting a row of an index loop."""
    row_weight: float = 0.3
    """Loading a shared weight and its place in an index loop."""
    row: float = 0.17
    """Eight multiply-accumulates with a shared weight in an index loop."""
    row_start: float = 0.6
    """Starting such a row."""
    empty_row: float = 2.0
    """Clearing a row that no entry reaches."""
    block: float = 0.2
    """Eight multiply-accumulates of a dense block."""
    block_once: float = 0.37
    """The same where each weight is used once, so that the time goes into reading weights."""
    block_far: float = 0.48
    """The same where the weights do not fit the second-level cache."""
    far_bytes: int = 400_000
    """Bytes of weights from which on they do not fit it."""
    block_start: float = 8.0
    """Starting a dense block."""
    turn: float = 5.0
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


def row_blocks(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
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


def turned_possible(operation: Affine, sizes: dict[str, int]) -> bool:
    """Whether the operation mixes joints alike in all channels, whole vectors of both, and nothing else."""
    if len(operation.terms) != 1 or operation.activation != "none" or operation.bias.any():
        return False
    term = operation.terms[0]
    pitch, block = term.dst_step, term.dst_step * term.width
    if pitch != term.src_step or pitch % LANES or term.width % LANES or term.width > 6 * LANES or pitch > 255:
        return False
    inside = (term.rows % block < pitch).all() and (term.columns < pitch).all()
    return bool(inside and sizes[term.src] >= block and sizes[operation.dst] % block == 0)


def turned_cost(term: Term, *, back: bool, machine: Machine = MACHINE) -> float:
    """Turning the source (and every block's results ``back``), and one vector product a link."""
    blocks = len(np.unique(term.rows // (term.dst_step * term.width)))
    turns = (term.dst_step // LANES) * (term.width // LANES) * (1 + blocks * back)
    rows = len(np.unique(term.rows))
    empty = (blocks * term.dst_step - rows) * back
    moved = turns * machine.turn + empty * machine.empty_row
    return moved + rows_time(len(term), rows, vectors(term.width), machine)


def scan_cost(operation: Affine, machine: Machine = MACHINE) -> float:
    """A scalar index loop."""
    rows = sum(len(np.unique(t.rows)) * t.width for t in operation.terms)
    return sum(len(t) * t.width for t in operation.terms) * machine.scan + rows * machine.scan_row
