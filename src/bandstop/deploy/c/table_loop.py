"""One loop over delta-coded tables, called once per operation; the size and the fixed emitter share it."""

from __future__ import annotations

from collections.abc import Sequence

from bandstop.deploy.c.text import Tables, filled, index_type
from bandstop.deploy.ir.delta_tables import DeltaTable

__all__ = ["index_types", "layer_line", "layers_text"]


def index_types(tables: Sequence[DeltaTable]) -> tuple[str, str]:
    """The C types of counts and of rows that all ``tables`` fit in."""
    count = index_type(max((int(table.counts.max(initial=0)) for table in tables), default=0))
    row = index_type(max((int(table.rows.max(initial=0)) for table in tables), default=0))
    return count, row


def layer_line(table: DeltaTable, arrays: Sequence[str], last: int) -> str:
    """One element of the array of layers: the names of its arrays, its sizes and its last number."""
    sizes = [len(table.rows), table.width, table.dst_step, table.src_step, table.unit, last]
    return f"    {{{', '.join([*arrays, *map(str, sizes)])}}}"


def layers_text(lines: Sequence[str], tables: Tables, types: tuple[str, str], arrays: str, last: str) -> str:
    """The struct of a layer, all tables, and the array of layers.

    ``arrays``: declarations of the struct's further arrays; ``last``: the name of its last number.
    """
    struct = filled("table_layer.c", count=types[0], row=types[1], arrays=arrays, last=last)
    layers = f"static const layer layers[{len(lines)}] = {{\n" + ",\n".join(lines) + "\n};"
    return "\n".join([struct, tables.text(), layers])
