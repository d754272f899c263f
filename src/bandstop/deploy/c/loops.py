"""C of an operation as a loop over tables: index loops, dense rows, dense blocks, transposed links."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bandstop.deploy.c.buffers import Buffers
from bandstop.deploy.c.text import activation_code
from bandstop.deploy.ir.program import Affine, Floats, Ints, Mask, Term, activate
from bandstop.deploy.plan import LANES
from bandstop.deploy.plan.cost import row_blocks, vectors
from bandstop.deploy.plan.transpose import transposed_positions, transposed_term

__all__ = ["blocks", "dense_rows", "rows", "scan", "transposed"]

BLOCK = 6 * LANES
"""Most results of one dense block."""
WRITTEN_OUT = 12
"""Rows of up to this many entries have a kernel of their own that writes them out."""


def _grouped(term: Term) -> tuple[Ints, Ints, Term]:
    """Distinct rows and how many entries each has.

    Rows with equally many are together, for the branch predictor.
    """
    distinct, inverse, counts = np.unique(term.rows, return_inverse=True, return_counts=True)
    order = np.lexsort((term.columns, term.rows, counts[inverse]))
    rank = np.argsort(counts, kind="stable")
    sorted_term = Term(term.src, term.rows[order], term.columns[order], term.weights[order], term.width)
    return distinct[rank], counts[rank], sorted_term


def _uncovered(operation: Affine, live: Mask, at: Buffers) -> list[str]:
    """Live results that no entry reaches are constants."""
    covered = np.zeros(len(operation.bias), bool)
    for term in operation.terms:
        covered[term.destinations().ravel()] = True
    constant: Floats = activate(operation.activation, operation.bias)
    return _constant_lines(at.start(operation.dst), np.flatnonzero(live & ~covered), constant, at)


def _constant_lines(dst: str, index: Ints, values: Floats, at: Buffers) -> list[str]:
    """Loops that write ``values`` to the elements ``index``, one for each stretch of neighbours."""
    lines = []
    for stretch in np.split(index, np.flatnonzero(np.diff(index) > LANES) + 1) if len(index) else []:
        first, last = int(stretch[0]), int(stretch[-1]) + 1
        part = values[first:last]
        copy = f"{at.tables.add('float', part)}[i]" if part.any() else "0.0f"
        lines.append(f"    for (i = 0; i < {last - first}; ++i) {dst}[{first} + i] = {copy};")
    return lines


def rows(operation: Affine, live: Mask, at: Buffers) -> list[str]:
    """One weight times a vector of joints."""
    term = operation.terms[0]
    start, source, code = at.start(operation.dst), at.start(term.src), activation_code(operation.activation)
    return [
        *_uncovered(operation, live, at),
        *_rows_calls(term, operation.bias, live, start, source, code, at),
    ]


def _rows_calls(
    term: Term, bias: Floats, live: Mask, dst: str, src: str, code: int, at: Buffers
) -> list[str]:
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
        names = [at.tables.add("index_t", distinct[first:last])]
        names += [] if few else [at.tables.add("index_t", counts[first:last])]
        names.append(at.tables.add("index_t", grouped.columns[inside]))
        names += [at.tables.add("float", v) for v in (grouped.weights[inside], starts[first:last].ravel())]
        calls.append(
            f"    {kernel}({dst}, {src}, {last - first}, {', '.join(names)}, {starts.shape[1]}, {code});"
        )
    return calls


def _starts(bias: Floats, live: Mask) -> Floats:
    """One bias per row if all that is read of it agrees, else one for each lane."""
    marked = np.where(live, bias, np.nan)
    agreed = np.nan_to_num(np.nanmax(marked, axis=1, initial=-np.inf), neginf=0.0)
    if np.all((bias == agreed[:, None]) | ~live):
        one: Floats = agreed[:, None].astype(np.float32)
        return one
    return bias


def transposed(operation: Affine, live: Mask, at: Buffers, *, back: bool) -> list[str]:
    """Links between joints, all channels of a joint side by side.

    Results are transposed ``back`` or left so.
    """
    term = operation.terms[0]
    pitch, width = term.dst_step, term.width
    block = pitch * width
    source = f"{term.src} transposed"
    results = f"{operation.dst} transposed" if back else operation.dst
    at.kernels.add("transpose")
    at.reserve(source, block)
    lines = [_transpose_line(at.start(source), at.start(term.src), width, pitch)]
    size, links = len(operation.bias), transposed_term(term)
    nothing, everything = np.zeros(size, np.float32), np.ones(size, bool)
    if back:
        at.reserve(results, size)
        missing = np.ones(size, bool)
        missing[links.destinations().ravel()] = False
        read = np.zeros(size, bool)
        read[transposed_positions(size, pitch, width)[live]] = True
        lines += _constant_lines(at.start(results), np.flatnonzero(missing & read), nothing, at)
    lines += _rows_calls(links, nothing, everything, at.start(results), at.start(source), 0, at)
    for first in range(0, size if back else 0, block):
        moved = f"({at.start(operation.dst)} + {first})", f"({at.start(results)} + {first})"
        lines.append(_transpose_line(*moved, pitch, width))
    return lines


def _transpose_line(dst: str, src: str, rows: int, columns: int) -> str:
    """A statement that transposes ``src``, ``rows`` by ``columns``, into ``dst``, eight by eight."""
    to = f"{dst} + i % {columns} * {rows} + i / {columns} * 8, {rows}"
    source = f"{src} + i / {columns} * {8 * columns} + i % {columns}, {columns}"
    return f"    for (i = 0; i < {rows * columns // 8}; i += 8) transpose({to}, {source});"


def dense_rows(operation: Affine, live: Mask, at: Buffers) -> list[str]:
    """All rows times all columns, four rows at a time."""
    term = operation.terms[0]
    distinct, columns = np.unique(term.rows), np.unique(term.columns)
    count, kernel = vectors(term.width), f"dense_rows{vectors(term.width)}"
    at.kernels.add(kernel)
    padded = -(-len(distinct) // 4) * 4
    matrix = np.zeros((padded, len(columns)), np.float32)
    matrix[np.searchsorted(distinct, term.rows), np.searchsorted(columns, term.columns)] = term.weights
    starts = np.concatenate([distinct, np.repeat(distinct[-1:], padded - len(distinct))])
    matrix[len(distinct) :] = matrix[len(distinct) - 1]
    bias = at.tables.add("float", operation.bias[(starts[:, None] + np.arange(count * LANES)).ravel()])
    weights = at.tables.add("float", matrix.reshape(-1, 4, len(columns)).transpose(0, 2, 1).ravel())
    names = [at.tables.add("index_t", v) for v in (starts, columns)]
    call = f"    {kernel}({at.start(operation.dst)}, {at.start(term.src)}, {padded}, {names[0]}, "
    call += f"{len(columns)}, {names[1]}, {weights}, {bias}, {activation_code(operation.activation)});"
    return [*_uncovered(operation, live, at), call]


def blocks(operation: Affine, live: Mask, at: Buffers, *, padded: bool) -> list[str]:
    """Dense blocks, a value times a vector of weights.

    ``padded``: vectors may be stored past the last result.
    """
    lines = []
    for block in row_blocks(operation.terms[0].rows):
        for first in range(int(block[0]), int(block[-1]) + 1, BLOCK):
            lines += _block(operation, live, first, min(first + BLOCK, int(block[-1]) + 1), at, padded)
    return [*_uncovered(operation, live, at), *lines]


def _block(operation: Affine, live: Mask, first: int, last: int, at: Buffers, padded: bool) -> list[str]:
    term = operation.terms[0]
    inside = (term.rows >= first) & (term.rows < last)
    columns = np.unique(term.columns[inside])
    if not len(columns):
        return []
    count = vectors(last - first)
    matrix = np.zeros((len(columns), count * LANES), np.float32)
    weights = term.weights[inside]
    matrix[np.searchsorted(columns, term.columns[inside]), term.rows[inside] - first] = weights
    written = first + np.arange(term.width)[:, None] * term.dst_step + np.arange(count * LANES)
    bias = np.pad(operation.bias, (0, count * LANES))[written].astype(np.float32)
    kernel = f"block{count}"
    at.kernels.add(kernel)
    names = [at.tables.add("index_t", columns)]
    names += [at.tables.add("float", v) for v in (matrix.ravel(), bias.ravel())]
    where = f"{at.start(operation.dst)} + {first}, {last - first}, {at.start(term.src)}, {len(columns)}"
    spare = written[:, last - first :]
    whole = padded and bool((spare < len(live)).all()) and not live[spare].any()
    steps = f"{term.width}, {term.dst_step}, {term.src_step}, {int(whole)}"
    return [f"    {kernel}({where}, {', '.join(names)}, {steps}, {activation_code(operation.activation)});"]


def scan(operation: Affine, live: Mask, at: Buffers) -> list[str]:
    """Scalar index loops."""
    dst, size = at.start(operation.dst), len(operation.bias)
    if len(operation.terms) == 1 and operation.terms[0].width == 1:
        term = operation.terms[0]
        distinct, counts, grouped = _grouped(term)
        at.kernels.add("scan")
        names = [at.tables.add("index_t", v) for v in (distinct, counts, grouped.columns)]
        names += [at.tables.add("float", v) for v in (grouped.weights, operation.bias[distinct])]
        call = f"    scan({dst}, {at.start(term.src)}, {len(distinct)}, {', '.join(names)}, "
        return [*_uncovered(operation, live, at), f"{call}{activation_code(operation.activation)});"]
    bias = at.tables.add("float", operation.bias)
    lines = [f"    for (i = 0; i < {size}; ++i) {dst}[i] = {bias}[i];"]
    for term in operation.terms:
        at.kernels.add("add_term")
        names = [at.tables.add("index_t", v) for v in (term.rows, term.columns)]
        lines.append(
            f"    add_term({dst}, {at.start(term.src)}, {len(term)}, {', '.join(names)}, "
            f"{at.tables.add('float', term.weights)}, {term.width}, {term.dst_step}, {term.src_step});"
        )
    if operation.activation != "none":
        done = f"act_{operation.activation}({dst}[i])"
        lines.append(f"    for (i = 0; i < {size}; ++i) {dst}[i] = {done};")
    return lines
