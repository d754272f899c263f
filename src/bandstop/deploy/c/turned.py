"""C that mixes joints with all channels of a joint side by side: the source is turned once, results are turned back if need be.

A link ``a`` from joint u to joint v acts alike on every channel. Rows of a tensor are channels, so neighbouring values are
joints; turned, neighbouring values are channels and one link is one multiplication of whole vectors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.ir.program import Term

__all__ = ["TURN", "turn_lines", "turned_positions", "turned_term"]

_PAIRS = ((0, 8, 1, 9, 4, 12, 5, 13), (2, 10, 3, 11, 6, 14, 7, 15))
_QUADS = ((0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15))
_HALVES = ((0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15))


def _shuffle(a: str, b: str, order: tuple[int, ...]) -> str:
    return f"__builtin_shufflevector({a}, {b}, {', '.join(map(str, order))})"


def _turn() -> str:
    """An 8 by 8 transposition in three rounds of shuffles; plain loops for other compilers."""
    lines = [f"    lanes {', '.join(f'r{i}, s{i}' for i in range(8))};"]
    lines += [f"    LOAD(r{i}, from + {i} * from_step);" for i in range(8)]
    for i in range(0, 8, 2):
        lines += [f"    s{i + j} = {_shuffle(f'r{i}', f'r{i + 1}', _PAIRS[j])};" for j in range(2)]
    for base in (0, 4):
        for j in range(2):
            a, b = f"s{base + j}", f"s{base + 2 + j}"
            lines += [f"    r{base + 2 * j + q} = {_shuffle(a, b, _QUADS[q])};" for q in range(2)]
    for j in range(4):
        lines += [f"    s{j + 4 * q} = {_shuffle(f'r{j}', f'r{j + 4}', _HALVES[q])};" for q in range(2)]
    lines += [f"    STORE(to + {i} * to_step, s{i});" for i in range(8)]
    return "\n".join(lines)


TURN = f"""#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
HELPER void turn(float *restrict to, int to_step, const float *restrict from, int from_step)
{{
{_turn()}
}}
#else
HELPER void turn(float *restrict to, int to_step, const float *restrict from, int from_step)
{{
    int i, j;
    for (i = 0; i < 8; ++i) for (j = 0; j < 8; ++j) to[j * to_step + i] = from[i * from_step + j];
}}
#endif"""


def turn_lines(dst: str, src: str, rows: int, columns: int) -> list[str]:
    """Statements that write ``src``, ``rows`` by ``columns``, to ``dst`` the other way round."""
    return [
        f"    for (i = 0; i < {rows * columns // 8}; i += 8) "
        f"turn({dst} + i % {columns} * {rows} + i / {columns} * 8, {rows}, {src} + i / {columns} * {8 * columns} + i % {columns}, {columns});"
    ]


def turned_term(term: Term) -> Term:
    """The same links between joints whose channels lie side by side."""
    pitch, width = term.dst_step, term.width
    block = pitch * width
    rows = term.rows // block * block + term.rows % block * width
    return Term(term.src, rows, term.columns * width, term.weights, width)


def turned_positions(size: int, pitch: int, width: int) -> NDArray[np.int64]:
    """Where each element of a destination lies when every block of ``width`` channels by ``pitch`` joints is left turned.

    >>> turned_positions(6, 3, 2).tolist()
    [0, 2, 4, 1, 3, 5]
    """
    element = np.arange(size)
    inside = element % (pitch * width)
    return element - inside + inside % pitch * width + inside // pitch
