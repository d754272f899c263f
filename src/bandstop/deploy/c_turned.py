"""C that mixes joints with all channels of a joint side by side: the source is turned once, results are turned back.

A link ``a`` from joint u to joint v acts alike on every channel. Rows of a tensor are channels, so neighbouring values are
joints; turned, neighbouring values are channels and one link is one multiplication of whole vectors.
"""

from __future__ import annotations

import numpy as np

from bandstop.deploy.c_text import Tables
from bandstop.deploy.cost import vectors
from bandstop.deploy.program import Affine

__all__ = ["TURN", "turned_call", "turned_kernel"]

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


def turned_kernel(n: int, pitch: int) -> str:
    """The loop for ``8·n`` channels and rows ``pitch`` apart; ``count`` has an entry for each of a block's ``pitch`` joints."""
    width = 8 * n
    names = [f"a{i}" for i in range(n)]
    clear = " ".join(f"SPREAD({a}, 0.0f);" for a in names)
    add = " ".join(f"ADD({a}, w, in + {8 * i});" for i, a in enumerate(names))
    store = " ".join(f"STORE(to + {8 * i}, {a});" for i, a in enumerate(names))
    return f"""HELPER void turned{n}(float *restrict dst, const float *restrict src, int blocks, const place_t *base,
                    const uint8_t *count, const uint8_t *joint, const float *weight)
{{
    float from[{pitch * width}], to_all[{pitch * width}];
    int b, v, e, i, j;
    for (i = 0; i < {width}; i += 8)
        for (j = 0; j < {pitch}; j += 8) turn(from + j * {width} + i, {width}, src + i * {pitch} + j, {pitch});
    for (b = 0; b < blocks; ++b) {{
        float *to = to_all, *out = dst + base[b];
        for (v = 0; v < {pitch}; ++v, ++count, to += {width}) {{
            lanes {", ".join(names)};
            {clear}
            for (e = *count; e > 0; --e, ++joint, ++weight) {{
                const float *in = from + *joint * {width}, w = *weight;
                {add}
            }}
            {store}
        }}
        for (i = 0; i < {width}; i += 8)
            for (j = 0; j < {pitch}; j += 8) turn(out + i * {pitch} + j, {pitch}, to_all + j * {width} + i, {width});
    }}
}}"""


def turned_call(operation: Affine, places: dict[str, str], tables: Tables, kernels: set[str]) -> str:
    """The statement that runs the loop, its tables added; results that no link reaches become zero on the way."""
    term = operation.terms[0]
    pitch, size = term.dst_step, term.dst_step * term.width
    order = np.lexsort((term.columns, term.rows))
    rows, joints, weights = term.rows[order], term.columns[order], term.weights[order]
    blocks = np.arange(len(operation.bias) // size)
    counts = np.zeros((len(blocks), pitch), np.int64)
    np.add.at(counts, (rows // size, rows % size), 1)
    count = vectors(term.width)
    kernels.add(f"turned{count}x{pitch}")
    names = [
        tables.add("place_t", blocks * size),
        tables.add("uint8_t", counts.ravel()),
        tables.add("uint8_t", joints),
        tables.add("float", weights),
    ]
    dst, src = places[operation.dst], places[term.src]
    return f"    turned{count}({dst}, {src}, {len(blocks)}, {', '.join(names)});"
