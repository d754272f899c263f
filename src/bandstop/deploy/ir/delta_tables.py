"""Operations as delta-coded tables: per row a count and an offset, per weight one byte of distance.

The distance is that from the source of the weight before, so that most indices fit in a byte.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandstop.deploy.ir.program import Affine, Floats, Ints, Mask, Term, activate

__all__ = ["DeltaTable", "delta_tables", "flattened"]

FAR = 255
"""The largest distance that fits in a byte."""


@dataclass(frozen=True)
class DeltaTable:
    """One term as tables.

    A weight's source lies ``distance · unit`` after that of the weight before it in its row. Where that
    does not fit in a byte, fillers of weight 0 bridge the gap. ``bias`` is None where the destination is
    filled beforehand and added to.
    """

    src: str
    rows: Ints
    counts: Ints
    distances: Ints
    weights: Floats
    bias: Floats | None
    width: int
    dst_step: int
    src_step: int
    unit: int


def delta_tables(operation: Affine, live: Mask) -> tuple[list[DeltaTable], Floats | None]:
    """Tables of each term, and what to fill the destination with first (None if nothing)."""
    if len(operation.terms) == 1:
        term = operation.terms[0]
        constant_rows = _constant_rows(operation, term, live)
        if constant_rows is not None:
            whole = np.union1d(np.unique(term.rows), constant_rows)
            values = operation.bias[whole[:, None] + np.arange(term.width) * term.dst_step]
            if (values == values[:, :1]).all():
                return [_table(term, whole, operation.bias[whole])], None
    if not operation.terms:
        return [], activate(operation.activation, operation.bias)
    return [_table(term, np.unique(term.rows), None) for term in operation.terms], operation.bias


def _constant_rows(operation: Affine, term: Term, live: Mask) -> Ints | None:
    """First elements of rows that are read but that no entry reaches; None if they lack the term's shape."""
    if not operation.bias.any() and operation.activation != "sigmoid" and term.width > 1:
        covered = np.zeros(len(live), bool)
        covered[term.destinations().ravel()] = True
        return np.zeros(0, np.int64) if (covered | ~live).all() else None
    open_ = live.copy()
    open_[term.destinations().ravel()] = False
    covered = np.zeros(len(live), bool)
    covered[term.destinations().ravel()] = True
    found = []
    for element in np.flatnonzero(open_):
        if open_[element]:
            row = element + np.arange(term.width) * term.dst_step
            if row[-1] >= len(live) or covered[row].any():
                return None
            open_[row] = False
            covered[row] = True
            found.append(element)
    return np.array(found, dtype=np.int64)


def _table(term: Term, rows: Ints, bias: Floats | None) -> DeltaTable:
    unit = max(1, int(np.gcd.reduce(term.columns))) if len(term) else 1
    counts, distances, weights = [], [], []
    order = np.lexsort((term.columns, term.rows))
    sorted_rows, columns, values = term.rows[order], term.columns[order] // unit, term.weights[order]
    for row in rows:
        first, last = np.searchsorted(sorted_rows, [row, row + 1])
        at, count = 0, 0
        for column, weight in zip(columns[first:last].tolist(), values[first:last].tolist(), strict=True):
            gap = column - at
            fillers = max(0, (gap - 1) // FAR) if gap > FAR else 0
            distances += [FAR] * fillers + [gap - fillers * FAR]
            weights += [0.0] * fillers + [weight]
            at, count = column, count + fillers + 1
        counts.append(count)
    return DeltaTable(
        term.src,
        rows,
        np.array(counts, dtype=np.int64),
        np.array(distances, dtype=np.int64),
        np.array(weights, dtype=np.float32),
        bias,
        term.width,
        term.dst_step,
        term.src_step,
        unit,
    )


def flattened(operation: Affine) -> Affine:
    """The same operation as one term of single connections; those that share both ends are added up."""
    sources = {term.src for term in operation.terms}
    if len(sources) != 1:
        raise ValueError("an operation that reads two tensors has no single term")
    pairs = np.concatenate(
        [np.stack([t.destinations().ravel(), t.sources().ravel()]) for t in operation.terms], axis=1
    )
    weights = np.concatenate([np.repeat(t.weights, t.width) for t in operation.terms])
    unique, inverse = np.unique(pairs, axis=1, return_inverse=True)
    total = np.zeros(unique.shape[1], np.float64)
    np.add.at(total, inverse.ravel(), weights)
    term = Term(sources.pop(), unique[0], unique[1], total.astype(np.float32))
    return Affine(operation.dst, (term,), operation.bias, operation.activation)
