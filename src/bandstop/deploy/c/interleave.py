"""C of interleaved results: straight-line code, or one loop over tables of offsets and weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bandstop.deploy.c.text import Tables, activation_code
from bandstop.deploy.ir.program import Activation
from bandstop.deploy.plan import LANES
from bandstop.deploy.plan.interleave import POINTERS, REACH, Group, Read

__all__ = ["interleaved_lines", "interleaved_loop"]

Address = Callable[[str, int], tuple[str, int]]


def interleaved_lines(
    groups: Sequence[Group], dst: str, activation: Activation, address: Address, tables: Tables
) -> list[str]:
    """Straight-line code; sources are addressed from pointers to their neighbourhoods, if registers suffice.

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
            parts.append(f"MADD_LANES(a, {weights}, {values});")
        parts += ["RELU(a);"] if activation == "relu" else []
        body.append("    { lanes a; BARRIER; " + " ".join(parts) + f" {_stored(group, dst, activation)} }}")
    if not near:
        return body
    declared = [
        f"    const float *p{i} = {base} + {REACH * block + REACH // 2};"
        for (base, block), i in pointers.items()
    ]
    hidden = "    " + " ".join(f"OPAQUE(p{i});" for i in pointers.values())
    return ["    {", *declared, hidden, *body, "    }"] if pointers else body


def _neighbourhoods(groups: Sequence[Group], address: Address) -> dict[tuple[str, int], int]:
    found = {address(*read[:2]) for group in groups for step in group.steps for read in step if read}
    return {key: i for i, key in enumerate(sorted({(base, index // REACH) for base, index in found}))}


def _value(read: Read | None, address: Address, pointers: dict[tuple[str, int], int], near: bool) -> str:
    if read is None:
        return "0.0f"
    base, index = address(*read[:2])
    if not near:
        return f"{base}[{index}]"
    return f"p{pointers[base, index // REACH]}[{index % REACH - REACH // 2}]"


def _stored(group: Group, dst: str, activation: Activation) -> str:
    code, target = activation_code(activation), f"{dst} + {group.first}"
    if group.count == LANES:
        return f"STORE({target}, a);" + (f" finish({target}, {LANES}, {code});" if code > 1 else "")
    finish = f" finish(part, {LANES}, {code});" if code > 1 else ""
    copies = " ".join(f"({target})[{i}] = part[{i}];" for i in range(group.count))
    return f"{{ float part[{LANES}]; STORE(part, a);{finish} {copies} }}"


def interleaved_loop(
    groups: Sequence[Group], dst: str, activation: Activation, address: Address, tables: Tables
) -> list[str]:
    """One call of the loop; every read must lie within 65,536 values of one base."""
    offsets: list[int] = []
    weights: list[float] = []
    base = "work"
    for group in groups:
        for step in group.steps:
            found = [address(*read[:2]) if read else None for read in step]
            known = next(address for address in found if address)
            base = known[0]
            indices = [(address or known)[1] for address in found]
            offsets += [sum(s << (16 * i) for i, s in enumerate(indices[j : j + 4])) for j in (0, 4)]
            weights += [read[2] if read else 0.0 for read in step]
    names = [
        tables.add("uint16_t", [len(group.steps) for group in groups]),
        tables.add("uint64_t", offsets),
        tables.add("float", np.array(weights, np.float32)),
        tables.add("float", np.concatenate([group.bias for group in groups])),
    ]
    count = sum(group.count for group in groups)
    return [f"    interleave({dst}, {count}, {base}, {', '.join(names)}, {activation_code(activation)});"]
