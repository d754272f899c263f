"""C of an operation as a loop over tables: index loops, dense rows, dense blocks, joints mixed with channels side by side."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bandstop.deploy.c.buffers import Places
from bandstop.deploy.c.interleave import activation_code
from bandstop.deploy.c.turned import turn_lines, turned_positions, turned_term
from bandstop.deploy.ir.program import Affine, Floats, Term, activate
from bandstop.deploy.ir.simplify import Mask
from bandstop.deploy.plan.cost import LANES, row_blocks, vectors

__all__ = ["blocks", "dense_rows", "rows", "scan", "turned"]

BLOCK = 6 * LANES
WRITTEN_OUT = 12


def _grouped(term: Term) -> tuple[np.ndarray, np.ndarray, Term]:
    """Distinct rows and how many entries each has, rows with as many entries together: loops then end as predicted."""
    distinct, inverse, counts = np.unique(term.rows, return_inverse=True, return_counts=True)
    order = np.lexsort((term.columns, term.rows, counts[inverse]))
    rank = np.argsort(counts, kind="stable")
    sorted_term = Term(term.src, term.rows[order], term.columns[order], term.weights[order], term.width)
    return distinct[rank], counts[rank], sorted_term


def _uncovered(operation: Affine, live: Mask, at: Places) -> list[str]:
    """Live results that no entry reaches are constants."""
    covered = np.zeros(len(operation.bias), bool)
    for term in operation.terms:
        covered[term.destinations().ravel()] = True
    constant: Floats = activate(operation.activation, operation.bias)
    return _filled(at.start(operation.dst), np.flatnonzero(live & ~covered), constant, at)


def _filled(dst: str, places: np.ndarray, values: Floats, at: Places) -> list[str]:
    """Loops that write ``values`` to ``places``, one for each stretch of neighbours."""
    lines = []
    for stretch in np.split(places, np.flatnonzero(np.diff(places) > LANES) + 1) if len(places) else []:
        first, last = int(stretch[0]), int(stretch[-1]) + 1
        part = values[first:last]
        copy = f"{at.tables.add('float', part)}[i]" if part.any() else "0.0f"
        lines.append(f"    for (i = 0; i < {last - first}; ++i) {dst}[{first} + i] = {copy};")
    return lines


def rows(operation: Affine, live: Mask, at: Places) -> list[str]:
    """One weight times a vector of joints."""
    term = operation.terms[0]
    start, source, code = at.start(operation.dst), at.start(term.src), activation_code(operation.activation)
    return [
        *_uncovered(operation, live, at),
        *_rows_calls(term, operation.bias, live, start, source, code, at),
    ]


def _rows_calls(term: Term, bias: Floats, live: Mask, dst: str, src: str, code: int, at: Places) -> list[str]:
    """Rows of few entries by loops that write those out, the others by one that counts."""
    distinct, counts, grouped = _grouped(term)
    width = vectors(term.width)
    lanes = distinct[:, None] + np.arange(width * LANES)
    starts = _starts(bias[lanes], live[lanes])
    ends = np.cumsum(counts)
    cuts = [int(np.searchsorted(counts, c)) for c in np.unique(counts) if c <= WRITTEN_OUT]
    cuts += [int(np.searchsorted(counts, WRITTEN_OUT, side="right")), len(counts)]
    calls = []
    for first, last in pairwise(cuts):
        if first == last:
            continue
        inside = slice(int(ends[first] - counts[first]), int(ends[last - 1]))
        few = int(counts[first]) if counts[first] <= WRITTEN_OUT else 0
        kernel = f"rows{width}of{few}" if few else f"rows{width}"
        at.kernels.add(kernel)
        names = [at.tables.add("place_t", distinct[first:last])]
        names += [] if few else [at.tables.add("place_t", counts[first:last])]
        names.append(at.tables.add("place_t", grouped.columns[inside]))
        names += [at.tables.add("float", v) for v in (grouped.weights[inside], starts[first:last].ravel())]
        calls.append(
            f"    {kernel}({dst}, {src}, {last - first}, {', '.join(names)}, {starts.shape[1]}, {code});"
        )
    return calls


def _starts(bias: Floats, live: Mask) -> Floats:
    """One bias a row if all that is read of it agrees, else one for each lane."""
    marked = np.where(live, bias, np.nan)
    agreed = np.nan_to_num(np.nanmax(marked, axis=1, initial=-np.inf), neginf=0.0)
    if np.all((bias == agreed[:, None]) | ~live):
        one: Floats = agreed[:, None].astype(np.float32)
        return one
    return bias


def turned(operation: Affine, live: Mask, at: Places, *, back: bool) -> list[str]:
    """Links between joints, all channels of a joint side by side; results are turned ``back`` or left so."""
    term = operation.terms[0]
    pitch, width = term.dst_step, term.width
    block = pitch * width
    source, results = f"{term.src} turned", f"{operation.dst} turned" if back else operation.dst
    at.kernels.add("turn")
    at.room(source, block)
    lines = turn_lines(at.start(source), at.start(term.src), width, pitch)
    size = len(operation.bias)
    if back:
        at.room(results, size)
        missing = np.ones(size, bool)
        missing[turned_term(term).destinations().ravel()] = False
        read = np.zeros(size, bool)
        read[turned_positions(size, pitch, width)[live]] = True
        lines += _filled(at.start(results), np.flatnonzero(missing & read), np.zeros(size, np.float32), at)
    nothing, everything = np.zeros(size, np.float32), np.ones(size, bool)
    lines += _rows_calls(turned_term(term), nothing, everything, at.start(results), at.start(source), 0, at)
    for first in range(0, size if back else 0, block):
        moved = f"({at.start(operation.dst)} + {first})", f"({at.start(results)} + {first})"
        lines += turn_lines(*moved, pitch, width)
    return lines


def dense_rows(operation: Affine, live: Mask, at: Places) -> list[str]:
    """All rows times all columns, four rows at a time."""
    term = operation.terms[0]
    distinct, columns = np.unique(term.rows), np.unique(term.columns)
    count, kernel = vectors(term.width), f"dense_rows{vectors(term.width)}"
    at.kernels.add(kernel)
    padded = -(-len(distinct) // 4) * 4
    matrix = np.zeros((padded, len(columns)), np.float32)
    matrix[np.searchsorted(distinct, term.rows), np.searchsorted(columns, term.columns)] = term.weights
    places = np.concatenate([distinct, np.repeat(distinct[-1:], padded - len(distinct))])
    matrix[len(distinct) :] = matrix[len(distinct) - 1]
    bias = at.tables.add("float", operation.bias[(places[:, None] + np.arange(count * LANES)).ravel()])
    weights = at.tables.add("float", matrix.reshape(-1, 4, len(columns)).transpose(0, 2, 1).ravel())
    names = [at.tables.add("place_t", v) for v in (places, columns)]
    call = f"    {kernel}({at.start(operation.dst)}, {at.start(term.src)}, {padded}, {names[0]}, "
    call += f"{len(columns)}, {names[1]}, {weights}, {bias}, {activation_code(operation.activation)});"
    return [*_uncovered(operation, live, at), call]


def blocks(operation: Affine, live: Mask, at: Places, *, padded: bool) -> list[str]:
    """Dense blocks, one value times a vector of weights; ``padded``: vectors may be stored past the last result."""
    lines = []
    for block in row_blocks(operation.terms[0].rows):
        for first in range(int(block[0]), int(block[-1]) + 1, BLOCK):
            lines += _block(operation, live, first, min(first + BLOCK, int(block[-1]) + 1), at, padded)
    return [*_uncovered(operation, live, at), *lines]


def _block(operation: Affine, live: Mask, first: int, last: int, at: Places, padded: bool) -> list[str]:
    term = operation.terms[0]
    inside = (term.rows >= first) & (term.rows < last)
    columns = np.unique(term.columns[inside])
    if not len(columns):
        return []
    count = vectors(last - first)
    matrix = np.zeros((len(columns), count * LANES), np.float32)
    weights = term.weights[inside]
    matrix[np.searchsorted(columns, term.columns[inside]), term.rows[inside] - first] = weights
    places = first + np.arange(term.width)[:, None] * term.dst_step + np.arange(count * LANES)
    bias = np.pad(operation.bias, (0, count * LANES))[places].astype(np.float32)
    kernel = f"block{count}"
    at.kernels.add(kernel)
    names = [at.tables.add("place_t", columns)]
    names += [at.tables.add("float", v) for v in (matrix.ravel(), bias.ravel())]
    where = f"{at.start(operation.dst)} + {first}, {last - first}, {at.start(term.src)}, {len(columns)}"
    spare = places[:, last - first :]
    whole = padded and bool((spare < len(live)).all()) and not live[spare].any()
    steps = f"{term.width}, {term.dst_step}, {term.src_step}, {int(whole)}"
    return [f"    {kernel}({where}, {', '.join(names)}, {steps}, {activation_code(operation.activation)});"]


def scan(operation: Affine, live: Mask, at: Places) -> list[str]:
    """Scalar index loops."""
    dst, size = at.start(operation.dst), len(operation.bias)
    if len(operation.terms) == 1 and operation.terms[0].width == 1:
        term = operation.terms[0]
        distinct, counts, grouped = _grouped(term)
        at.kernels.add("scan")
        names = [at.tables.add("place_t", v) for v in (distinct, counts, grouped.columns)]
        names += [at.tables.add("float", v) for v in (grouped.weights, operation.bias[distinct])]
        call = f"    scan({dst}, {at.start(term.src)}, {len(distinct)}, {', '.join(names)}, "
        return [*_uncovered(operation, live, at), f"{call}{activation_code(operation.activation)});"]
    bias = at.tables.add("float", operation.bias)
    lines = [f"    for (i = 0; i < {size}; ++i) {dst}[i] = {bias}[i];"]
    for term in operation.terms:
        at.kernels.add("add_term")
        names = [at.tables.add("place_t", v) for v in (term.rows, term.columns)]
        lines.append(
            f"    add_term({dst}, {at.start(term.src)}, {len(term)}, {', '.join(names)}, "
            f"{at.tables.add('float', term.weights)}, {term.width}, {term.dst_step}, {term.src_step});"
        )
    if operation.activation != "none":
        done = f"act_{operation.activation}({dst}[i])"
        lines.append(f"    for (i = 0; i < {size}; ++i) {dst}[i] = {done};")
    return lines
