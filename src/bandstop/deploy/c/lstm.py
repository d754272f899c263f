"""C of one LSTM layer around its gates' sums."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.c.text import Tables, filled
from bandstop.deploy.ir.program import Mask, Recurrent

__all__ = ["cell_update"]


def cell_update(
    operation: Recurrent, live: Mask, gates_code: list[str], buffers: dict[str, str], tables: Tables
) -> list[str]:
    """The loop over time: gates, cell, hidden state; only live units are updated.

    ``buffers`` names the C expressions of ``gates``, ``hidden``, ``cell``, ``dst`` and ``source``.
    """
    units, dst = operation.hidden, buffers["dst"]
    text = filled(
        "cell.c",
        dst_name=operation.dst,
        steps=operation.steps,
        advance=operation.src_advance,
        units=units,
        live=int(live.sum()),
        unit=tables.add("uint16_t", np.flatnonzero(live)),
        forget=units,
        update=2 * units,
        output=3 * units,
        out=f"{dst}[t * {units} + u]" if operation.sequence else f"{dst}[u]",
        gates_code="\n".join(gates_code),
        **{name: buffers[name] for name in ("gates", "hidden", "cell", "source")},
    )
    return [line for line in text.splitlines() if line]
