"""C of the front end: raw joints in, frame by frame, chunked and normalised as in training, class out."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.c.layout import SignalLayout, small_index
from bandstop.deploy.c.parts import parts_code
from bandstop.deploy.c.text import Tables, c_float, filled
from bandstop.deploy.ir.program import Program
from bandstop.skeleton.facing import FLAT
from bandstop.skeleton.normalise import STEP, Normaliser

__all__ = ["SIGNAL_LIMIT", "front_end", "most_frames"]

SIGNAL_LIMIT = 1e4
"""Normalised values are limited to this, so that scores are finite for any input."""


def most_frames(chunks: int) -> int:
    """The longest sequence whose chunk boundaries are exact in 32-bit integers.

    >>> most_frames(32)
    16777216
    """
    return min(1 << 24, (1 << 31) // chunks)


def front_end(name: str, normaliser: Normaliser, program: Program, call: str, tables: Tables) -> str:
    """C of ``begin``, ``push_frame`` and ``classify``; ``call`` is the statement that runs the network."""
    layout = SignalLayout.of(program, normaliser)
    joints = len(normaliser.node_scale)
    scale = tables.add("float", 1 / np.array(normaliser.node_scale, dtype=np.float64))
    size, final = _body_size(normaliser, layout, tables)
    values: dict[str, object] = {
        "name": name,
        "NAME": name.upper(),
        "M": normaliser.chunks,
        "V": joints,
        "V3": 3 * joints,
        "P": layout.value,
        "ROW": layout.row,
        "MOMENT": layout.at_moment("m", tables),
        "AT": layout.at_joint(),
        "SIGNAL": program.sizes[program.input],
        "ROOT": normaliser.root,
        "ROOT_AT": normaliser.root * layout.joint,
        "SIZE": size,
        "FINAL": final,
        "SCALE": scale,
        "LIMIT": f"{SIGNAL_LIMIT}f",
        "OPEN_MOST": f"({name.upper()}_OPEN_ENDED ? {name.upper()}_MOST_FRAMES : 0u)",
        "CALL": call,
    }
    pieces = ["chunks.c", *_helpers(normaliser), "normalise.c"]
    after = []
    if normaliser.facing is not None:
        pieces.append("turn.c")
        values |= _facing(normaliser, normaliser.facing, layout)
        after.append("turn(r->signal)")
    if normaliser.duration is not None:
        pieces.append("log.c")
    if normaliser.parts:
        frames = "" if normaliser.duration is None else ", r->frames"
        after.append(f"add_parts(r->signal{frames})")
    elif normaliser.duration is not None:
        mean, deviation = normaliser.duration
        values |= {"MEAN": c_float(mean), "PER_DEVIATION": c_float(1 / deviation), "STEP": c_float(STEP)}
        after.append("add_motion(r->signal, r->frames)")
        pieces.append("motion.c")
    values["AFTER"] = "".join(f"\n        {statement};" for statement in after)
    texts = [filled(piece, **values) for piece in pieces]
    if normaliser.parts:
        texts.append(parts_code(normaliser, layout, tables))
    return "".join(f"\n{text}\n" for text in [*texts, filled("stream.c", **values)])


def _helpers(normaliser: Normaliser) -> list[str]:
    """Templates of the functions that the others call; a compiler warns of one that nobody does."""
    own_size = normaliser.unit is None
    roots = own_size or normaliser.facing or any(part.name == "distances" for part in normaliser.parts)
    return ["root_of.c"] * bool(roots) + ["distance.c"] * own_size


def _facing(normaliser: Normaliser, facing: tuple[int, int], layout: SignalLayout) -> dict[str, object]:
    """Values of ``turn.c``."""
    values: dict[str, object] = {"FLAT": c_float(FLAT), "FIRST_MOMENT": int(layout.moments[0])}
    for word, joint in zip(("ONE", "OTHER"), facing, strict=True):
        values |= {word: joint, f"{word}_AT": joint * layout.joint}
        values[f"{word}_SCALE"] = c_float(normaliser.node_scale[joint])
    return values


def _body_size(normaliser: Normaliser, layout: SignalLayout, tables: Tables) -> tuple[str, str]:
    """C that adds up the body size (bones, or distances to the root), and the expression of it."""
    if normaliser.unit is not None:
        return "", c_float(normaliser.unit)
    joints = len(normaliser.node_scale)
    if normaliser.edges:
        ends = np.array(normaliser.edges) * layout.joint
        index = "uint8_t" if joints * layout.joint < 256 else small_index(np.maximum(ends, 256))
        first, second = (tables.add(index, side) for side in ends.T)
        bones = len(normaliser.edges)
        add = f"size += root_of(distance(row, {first}[v], {second}[v]));"
        return (
            f"\n        for (v = 0; v < {bones}; ++v) {add}",
            f"size / {float(bones * normaliser.chunks)}f",
        )
    add = f"size += distance(row, {layout.at_joint()}, {normaliser.root * layout.joint});"
    return (
        f"\n        for (v = 0; v < {joints}; ++v) {add}",
        f"root_of(size / {float(joints * normaliser.chunks)}f)",
    )
