"""C of the front end: raw joints in, frame by frame, chunked and normalised as in training, class out."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.c.parts import chunk_values, parts_code
from bandstop.deploy.c.text import Tables, c_float, filled
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


def front_end(name: str, normaliser: Normaliser, pitch: int, call: str, tables: Tables) -> str:
    """C of ``begin``, ``push_frame`` and ``classify``; ``call`` is the statement that runs the network."""
    joints = len(normaliser.node_scale)
    scale = tables.add("float", 1 / np.array(normaliser.node_scale, dtype=np.float64))
    size, final = _body_size(normaliser, joints, tables)
    values: dict[str, object] = {
        "name": name,
        "NAME": name.upper(),
        "M": normaliser.chunks,
        "V": joints,
        "V3": 3 * joints,
        "P": pitch,
        "ROW": chunk_values(normaliser) * pitch,
        "SIGNAL": pitch * normaliser.values,
        "ROOT": normaliser.root,
        "SIZE": size,
        "FINAL": final,
        "SCALE": scale,
        "LIMIT": f"{SIGNAL_LIMIT}f",
        "OPEN_MOST": f"({name.upper()}_OPEN_ENDED ? {name.upper()}_MOST_FRAMES : 0u)",
        "CALL": call,
        "AFTER": "",
    }
    pieces = ["chunks.c", "normalise.c", "stream.c"]
    if normaliser.duration is not None:
        pieces.insert(2, "log.c")
    if normaliser.parts:
        frames = "" if normaliser.duration is None else ", r->frames"
        values["AFTER"] = f"\n        add_parts(r->signal{frames});"
    elif normaliser.duration is not None:
        mean, deviation = normaliser.duration
        values |= {"MEAN": c_float(mean), "PER_DEVIATION": c_float(1 / deviation), "STEP": c_float(STEP)}
        values["AFTER"] = "\n        add_motion(r->signal, r->frames);"
        pieces.insert(3, "motion.c")
    texts = [filled(piece, **values) for piece in pieces]
    if normaliser.parts:
        texts.insert(-1, parts_code(normaliser, pitch, tables))
    return "".join(f"\n{text}\n" for text in texts)


def _body_size(normaliser: Normaliser, joints: int, tables: Tables) -> tuple[str, str]:
    """C that adds up the body size (bones, or distances to the root), and the expression of it."""
    if normaliser.edges:
        index = "uint8_t" if joints < 256 else "uint16_t"
        first, second = (tables.add(index, side) for side in zip(*normaliser.edges, strict=True))
        bones = len(normaliser.edges)
        add = f"size += root_of(distance(row, {first}[v], {second}[v]));"
        return (
            f"        for (v = 0; v < {bones}; ++v) {add}",
            f"size / {float(bones * normaliser.chunks)}f",
        )
    add = f"size += distance(row, v, {normaliser.root});"
    return (
        f"        for (v = 0; v < {joints}; ++v) {add}",
        f"root_of(size / {float(joints * normaliser.chunks)}f)",
    )
