"""C of one LSTM layer around its gates' sums."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.c.text import Tables
from bandstop.deploy.ir.program import Recurrent
from bandstop.deploy.ir.simplify import Mask

__all__ = ["cell_update"]


def cell_update(
    operation: Recurrent,
    live: Mask,
    gates_code: list[str],
    places: dict[str, str],
    tables: Tables,
) -> list[str]:
    """The loop over time: gates, cell, hidden state; only live units are updated.

    ``places`` names the C expressions of ``gates``, ``hidden``, ``cell``, ``dst`` and ``source``.
    """
    units = operation.hidden
    gates, hidden, cell = places["gates"], places["hidden"], places["cell"]
    unit = tables.add("uint16_t", np.flatnonzero(live))
    out = f"{places['dst']}[t * {units} + u]" if operation.sequence else f"{places['dst']}[u]"
    return [
        f"    /* {operation.dst}: long short-term memory, {operation.steps} steps */",
        f"    for (i = 0; i < {units}; ++i) {hidden}[i] = {cell}[i] = 0.0f;",
        f"    for (t = 0; t < {operation.steps}; ++t) {{",
        f"        const float *x = {places['source']} + t * {operation.src_advance};",
        *gates_code,
        f"        for (i = 0; i < {int(live.sum())}; ++i) {{",
        f"            const int u = {unit}[i];",
        f"            const float *g = {gates} + u;",
        f"            const float c = act_sigmoid(g[{units}]) * {cell}[u] + act_sigmoid(g[0]) * act_tanh(g[{2 * units}]);",
        f"            {cell}[u] = c;",
        f"            {hidden}[u] = {out} = act_sigmoid(g[{3 * units}]) * act_tanh(c);",
        "        }",
        "    }",
    ]
