"""Transposition: links between joints with all channels of a joint side by side.

A link ``a`` from joint u to joint v acts alike on every channel. Rows of a tensor are channels, so
neighbouring values are joints; transposed, neighbouring values are channels and one link is one
multiplication of whole vectors.
"""

from __future__ import annotations

import numpy as np

from bandstop.deploy.ir.program import Affine, Ints, Term
from bandstop.deploy.plan import LANES
from bandstop.deploy.plan.cost import MACHINE, Machine, rows_time, vectors

__all__ = ["transposable", "transposed_cost", "transposed_positions", "transposed_term"]


def transposable(operation: Affine, sizes: dict[str, int]) -> bool:
    """Whether the operation only mixes joints, alike in all channels, in whole vectors of both."""
    if len(operation.terms) != 1 or operation.activation != "none" or operation.bias.any():
        return False
    term = operation.terms[0]
    pitch, block = term.dst_step, term.dst_step * term.width
    if pitch != term.src_step or pitch % LANES or term.width % LANES or term.width > 6 * LANES or pitch > 255:
        return False
    inside = (term.rows % block < pitch).all() and (term.columns < pitch).all()
    return bool(inside and sizes[term.src] >= block and sizes[operation.dst] % block == 0)


def transposed_term(term: Term) -> Term:
    """The same links between joints whose channels lie side by side."""
    pitch, width = term.dst_step, term.width
    block = pitch * width
    rows = term.rows // block * block + term.rows % block * width
    return Term(term.src, rows, term.columns * width, term.weights, width)


def transposed_positions(size: int, pitch: int, width: int) -> Ints:
    """Where each element lies when every block of ``width`` channels by ``pitch`` joints is left transposed.

    >>> transposed_positions(6, 3, 2).tolist()
    [0, 2, 4, 1, 3, 5]
    """
    element = np.arange(size)
    inside = element % (pitch * width)
    return element - inside + inside % pitch * width + inside // pitch


def transposed_cost(term: Term, *, back: bool, machine: Machine = MACHINE) -> float:
    """Transposing the source (and every block of results ``back``), and one vector product per link."""
    blocks = len(np.unique(term.rows // (term.dst_step * term.width)))
    tiles = (term.dst_step // LANES) * (term.width // LANES) * (1 + blocks * back)
    rows = len(np.unique(term.rows))
    empty = (blocks * term.dst_step - rows) * back
    moved = tiles * machine.transpose + empty * machine.empty_row
    return moved + rows_time(len(term), rows, vectors(term.width), machine)
