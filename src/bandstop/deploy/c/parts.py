"""C of the parts of a signal that are computed from the places of its chunks."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.c.layout import SignalLayout, small_index
from bandstop.deploy.c.text import Tables, c_float, filled
from bandstop.record.signal import PARTS, UNSCALED
from bandstop.skeleton.normalise import Normaliser
from bandstop.skeleton.parts import LAGS, Part, bone_starts, distance_ends, moment_line

__all__ = ["parts_code"]


def parts_code(normaliser: Normaliser, layout: SignalLayout, tables: Tables) -> str:
    """C of ``add_parts``, which fills in everything but the places."""
    first, place, each, once = 3, 3, [], []
    for part in normaliser.parts[1:]:
        values: dict[str, object] = {"FIRST": first, "P": layout.value, "AT": layout.at_joint()}
        if place in layout.shared:
            once.append(f"        row[{layout.shared[place]}] = {_moment(normaliser.chunks)};\n")
        else:
            each.append(_part(part, normaliser, layout, values, tables))
            first += PARTS[part.name]
        place += PARTS[part.name]
    names = {part.name for part in normaliser.parts}
    lasting = ""
    if normaliser.duration is not None:
        mean, deviation = normaliser.duration
        lasting = f"(log_of(frames) - {c_float(mean)}) * {c_float(1 / deviation)}"
        lasting = f"\n    const float lasting = {lasting};"
    return filled(
        "parts.c",
        FRAMES=", uint32_t frames" if lasting else "",
        COUNTERS="".join([", v" if each else "", ", a" if names - {"places", *UNSCALED} else ""]),
        LASTING=lasting,
        M=normaliser.chunks,
        MOMENT=layout.at_moment("m", tables),
        ONCE="".join(once),
        EACH=_for_joints(len(normaliser.node_scale), each),
    )


def _for_joints(joints: int, each: list[str]) -> str:
    """C that does ``each`` for every joint; nothing where there is nothing to do."""
    body = "\n".join(text.rstrip("\n") for text in each)
    return f"        for (v = 0; v < {joints}; ++v) {{\n{body}\n        }}\n" if each else ""


def _moment(chunks: int) -> str:
    slope, offset = moment_line(chunks)
    return f"(float)m * {c_float(slope)} - {c_float(offset)}"


def _part(
    part: Part, normaliser: Normaliser, layout: SignalLayout, values: dict[str, object], tables: Tables
) -> str:
    """C of one part of one joint in one chunk."""
    name = part.name
    if name in UNSCALED:
        value = "lasting" if name == "duration" else _moment(normaliser.chunks)
        return filled("part_same.c", VALUE=value, **values)
    nodes, scale = np.array(normaliser.node_scale, np.float64), np.array(part.scale, np.float64)
    values["OWN"] = tables.add("float", nodes / scale)
    if name in LAGS:
        earlier = layout.at_moment(f"(m - {LAGS[name]})" if layout.row else f"m - {LAGS[name]}", tables)
        return filled("part_steps.c", NAMED=name, LAG=LAGS[name], EARLIER=earlier, **values)
    ends = (bone_starts if name == "bones" else distance_ends)(normaliser.edges, len(nodes), normaliser.root)
    apart = np.array(ends) != np.arange(len(ends))
    places = np.array(ends) * layout.joint
    values["END"] = tables.add(small_index(places), places)
    values["OTHER"] = tables.add("float", np.where(apart, nodes[ends] / scale, 0.0))
    if name == "distances":
        values["OFFSET"] = tables.add("float", np.array(part.offset, np.float64) / scale)
    return filled(f"part_{name}.c", **values)
