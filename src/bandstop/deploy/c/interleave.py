"""C of woven results: straight-line code, or one loop over tables of places and weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bandstop.deploy.c.text import Tables
from bandstop.deploy.ir.program import Activation
from bandstop.deploy.plan.cost import LANES
from bandstop.deploy.plan.interleave import POINTERS, REACH, Group, Read

__all__ = ["WEAVE", "activation_code", "woven_lines", "woven_loop"]

Address = Callable[[str, int], tuple[str, int]]

WEAVE = """#if defined(__GNUC__)
#define WOVEN(s, p, q) ((lanes){(s)[(p) & 65535u], (s)[(p) >> 16 & 65535u], (s)[(p) >> 32 & 65535u], (s)[(p) >> 48], \\
    (s)[(q) & 65535u], (s)[(q) >> 16 & 65535u], (s)[(q) >> 32 & 65535u], (s)[(q) >> 48]})
#else
HELPER lanes woven_of(const float *s, uint64_t p, uint64_t q)
{
    lanes v;
    int l;
    for (l = 0; l < 4; ++l, p >>= 16, q >>= 16) { v.f[l] = s[p & 65535u]; v.f[l + 4] = s[q & 65535u]; }
    return v;
}
#define WOVEN(s, p, q) woven_of(s, p, q)
#endif
HELPER void weave(float *restrict dst, int count, const float *src, const uint16_t *depth, const uint64_t *place,
                  const float *weight, const float *bias, int kind)
{
    for (; count > 0; count -= 8, bias += 8, dst += 8) {
        lanes a, v;
        int d;
        LOAD(a, bias);
        for (d = *depth++; d > 0; --d, place += 2, weight += 8) {
            v = WOVEN(src, place[0], place[1]);
            MADD_AT(a, weight, v);
        }
        if (kind == 1) RELU(a);
        if (count >= 8) { STORE(dst, a); if (kind > 1) finish(dst, 8, kind); }
        else {
            float part[8];
            STORE(part, a);
            for (d = 0; d < count; ++d) dst[d] = act_by(kind, part[d]);
        }
    }
}"""


def activation_code(name: Activation) -> int:
    """The number by which loops know an activation."""
    return ("none", "relu", "leaky", "tanh", "sigmoid").index(name)


def woven_lines(
    groups: list[Group], dst: str, activation: Activation, address: Address, tables: Tables
) -> list[str]:
    """Straight-line code; sources are addressed from pointers that reach their neighbourhoods, if registers suffice.

    Between groups the compiler is kept from holding values in registers: it would spill more than it saves.
    """
    pointers = _neighbourhoods(groups, address)
    near = len(pointers) <= POINTERS
    body = []
    for group in groups:
        parts = [f"LOAD(a, {tables.add('float', group.bias)});"]
        for step in group.steps:
            values = ", ".join(_value(read, address, pointers, near) for read in step)
            weights = tables.add("float", np.array([read[2] if read else 0.0 for read in step], np.float32))
            parts.append(f"WOVEN_ADD(a, {weights}, {values});")
        parts += ["RELU(a);"] if activation == "relu" else []
        body.append("    { lanes a; SETTLE; " + " ".join(parts) + f" {_stored(group, dst, activation)} }}")
    if not near:
        return body
    declared = [
        f"    const float *p{i} = {base} + {REACH * block + REACH // 2};"
        for (base, block), i in pointers.items()
    ]
    hidden = "    " + " ".join(f"HIDE(p{i});" for i in pointers.values())
    return ["    {", *declared, hidden, *body, "    }"] if pointers else body


def _neighbourhoods(groups: list[Group], address: Address) -> dict[tuple[str, int], int]:
    found = {address(*read[:2]) for group in groups for step in group.steps for read in step if read}
    return {key: i for i, key in enumerate(sorted({(base, place // REACH) for base, place in found}))}


def _value(read: Read | None, address: Address, pointers: dict[tuple[str, int], int], near: bool) -> str:
    if read is None:
        return "0.0f"
    base, place = address(*read[:2])
    if not near:
        return f"{base}[{place}]"
    return f"p{pointers[base, place // REACH]}[{place % REACH - REACH // 2}]"


def _stored(group: Group, dst: str, activation: Activation) -> str:
    code, target = activation_code(activation), f"{dst} + {group.first}"
    if group.count == LANES:
        return f"STORE({target}, a);" + (f" finish({target}, {LANES}, {code});" if code > 1 else "")
    finish = f" finish(part, {LANES}, {code});" if code > 1 else ""
    copies = " ".join(f"({target})[{i}] = part[{i}];" for i in range(group.count))
    return f"{{ float part[{LANES}]; STORE(part, a);{finish} {copies} }}"


def woven_loop(
    groups: list[Group], dst: str, activation: Activation, address: Address, tables: Tables
) -> list[str]:
    """One call of the loop; every read must lie within 65,536 values of one base."""
    places: list[int] = []
    weights: list[float] = []
    base = "work"
    for group in groups:
        for step in group.steps:
            found = [address(*read[:2]) if read else None for read in step]
            known = next(spot for spot in found if spot)
            base = known[0]
            spots = [(spot or known)[1] for spot in found]
            places += [sum(s << (16 * i) for i, s in enumerate(spots[j : j + 4])) for j in (0, 4)]
            weights += [read[2] if read else 0.0 for read in step]
    names = [
        tables.add("uint16_t", [len(group.steps) for group in groups]),
        tables.add("uint64_t", places),
        tables.add("float", np.array(weights, np.float32)),
        tables.add("float", np.concatenate([group.bias for group in groups])),
    ]
    count = sum(group.count for group in groups)
    return [f"    weave({dst}, {count}, {base}, {', '.join(names)}, {activation_code(activation)});"]
