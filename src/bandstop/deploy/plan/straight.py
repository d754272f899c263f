"""Straight-line code: one statement per live result, vectors where enough neighbours are live."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandstop.deploy.ir.program import Affine, Floats, Ints, Mask, activate
from bandstop.deploy.plan import LANES
from bandstop.deploy.plan.cost import MACHINE, Machine, rows_possible

__all__ = [
    "Facts",
    "Statement",
    "code_bytes",
    "constant_result",
    "scalar_statements",
    "straight",
    "straight_cost",
    "straight_reads",
]

WORTH_A_VECTOR = 3
"""Live neighbours from which on a vector is cheaper than single statements."""


@dataclass(frozen=True)
class Facts:
    """What is known of every tensor: its size, which elements are constant, and their values."""

    sizes: dict[str, int]
    fixed: dict[str, Mask]
    values: dict[str, Floats]


@dataclass(frozen=True)
class Statement:
    """``dst[start … start+lanes) = f(bias + Σ weight · src[column …])``; one lane is a scalar statement."""

    start: int
    lanes: int
    bias: Floats
    reads: tuple[tuple[str, int, float], ...]


def straight(operation: Affine, live: Mask, facts: Facts) -> list[Statement]:
    """Statements that compute every live element of the destination."""
    statements, done = [], np.zeros(len(live), bool)
    if rows_possible(operation, facts.sizes):
        term = operation.terms[0]
        order = np.argsort(term.rows, kind="stable")
        rows, columns, weights = term.rows[order], term.columns[order], term.weights[order]
        for row in np.unique(rows):
            first, last = np.searchsorted(rows, [row, row + 1])
            lanes = np.flatnonzero(live[row : row + term.width]) // LANES
            busy = np.flatnonzero(np.bincount(lanes) >= WORTH_A_VECTOR) if len(lanes) else lanes
            for lo, hi in _runs(busy):
                start = int(row) + lo * LANES
                reads = [
                    (term.src, int(c) + lo * LANES, float(w))
                    for c, w in zip(columns[first:last], weights[first:last], strict=True)
                ]
                bias = operation.bias[start : start + (hi - lo) * LANES]
                statements.append(Statement(start, (hi - lo) * LANES, bias, tuple(reads)))
                done[start : start + (hi - lo) * LANES] = True
    return statements + scalar_statements(operation, live & ~done, facts)


def _runs(blocks: Ints) -> list[tuple[int, int]]:
    """Neighbouring block numbers as half-open ranges."""
    parts = np.split(blocks, np.flatnonzero(np.diff(blocks) > 1) + 1) if len(blocks) else []
    return [(int(p[0]), int(p[-1]) + 1) for p in parts]


def scalar_statements(operation: Affine, wanted: Mask, facts: Facts) -> list[Statement]:
    """One statement for each wanted element; constants are added to its bias."""
    reads: dict[int, list[tuple[str, int, float]]] = {int(i): [] for i in np.flatnonzero(wanted)}
    bias = operation.bias.astype(np.float64)
    for term in operation.terms:
        to, source = term.destinations().ravel(), term.sources().ravel()
        weights = np.repeat(term.weights, term.width)
        keep = wanted[to]
        to, source, weights = to[keep], source[keep], weights[keep]
        still = facts.fixed[term.src][source]
        np.add.at(bias, to[still], weights[still].astype(np.float64) * facts.values[term.src][source[still]])
        moving = zip(to[~still].tolist(), source[~still].tolist(), weights[~still].tolist(), strict=True)
        for row, column, weight in moving:
            reads[row].append((term.src, column, weight))
    single = bias.astype(np.float32)
    return [
        Statement(row, 1, single[row : row + 1], tuple(sorted(found))) for row, found in sorted(reads.items())
    ]


def straight_reads(statements: list[Statement]) -> list[tuple[str, Ints]]:
    """Which elements the statements read, by tensor."""
    found: dict[str, list[int]] = {}
    for statement in statements:
        for src, column, _ in statement.reads:
            found.setdefault(src, []).extend(range(column, column + statement.lanes))
    return [(src, np.unique(np.array(columns, dtype=np.int64))) for src, columns in found.items()]


def straight_cost(statements: list[Statement], machine: Machine = MACHINE) -> float:
    """Time of the statements."""
    total = 0.0
    for statement in statements:
        if statement.lanes == 1:
            total += len(statement.reads) * machine.straight + machine.straight_result
        else:
            loads = statement.lanes // LANES
            total += len(statement.reads) * (machine.straight_weight + loads * machine.straight_vector)
            total += loads * machine.straight_result
    return total


def code_bytes(statements: list[Statement]) -> int:
    """About how long the machine code is: two instructions per product, one per vector and per weight."""
    each = (
        2 * len(s.reads) if s.lanes == 1 else len(s.reads) * (1 + s.lanes // LANES) + 2 * s.lanes // LANES
        for s in statements
    )
    return 9 * sum(each)


def constant_result(statement: Statement, operation: Affine) -> float:
    """Value of a statement that reads nothing."""
    return float(activate(operation.activation, statement.bias)[0])
