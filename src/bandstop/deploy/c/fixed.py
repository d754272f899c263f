"""C in fixed point: the loop over delta-coded tables on whole numbers, for devices without floating point."""

from __future__ import annotations

from bandstop.deploy.c.code import NetworkCode
from bandstop.deploy.c.table_loop import index_types, layer_line, layers_text
from bandstop.deploy.c.text import Tables, c_float, filled
from bandstop.deploy.ir.quantise import FixedProgram, sum_bits
from bandstop.deploy.ir.workspace import workspace

__all__ = ["emit_fixed"]


def emit_fixed(fixed: FixedProgram) -> NetworkCode:
    """The network's code on 16-bit values."""
    program, total = fixed.program, f"int{sum_bits(fixed.bits)}_t"
    offsets, work = workspace(program, output=True)
    buffers = {program.input: "signal", **{name: f"work + {offset}" for name, offset in offsets.items()}}
    body = []
    for number, layer in enumerate(fixed.layers):
        if layer.fill:
            size = program.sizes[layer.dst]
            body.append(f"    for (i = 0; i < {size}; ++i) work[{offsets[layer.dst]} + i] = 0;")
        body.append(f"    mix(&layers[{number}], {buffers[layer.table.src]}, {buffers[layer.dst]});")
    factor, last = c_float(2.0 ** -fixed.exponents[program.output]), offsets[program.output]
    body.append(
        f"    for (i = 0; i < {program.classes}; ++i) scores[i] = (float)work[{last} + i] * {factor};"
    )
    loop = filled(
        "table_loop.c",
        value="int16_t",
        weight=f"int{fixed.bits}_t",
        sum=total,
        shift=", shift = l->shift[r]",
        start="0",
        cast=f"({total})",
        finish=filled("fixed_finish.c", bits=sum_bits(fixed.bits), top=sum_bits(fixed.bits) - 1),
    )
    return NetworkCode(
        program,
        "\n".join([_layers(fixed, total), loop]),
        "\n".join(body),
        work,
        f"index tables, {fixed.bits}-bit weights, 16-bit values",
        number="int16_t",
        signal_scale=2.0 ** fixed.exponents[program.input],
    )


def _layers(fixed: FixedProgram, total: str) -> str:
    tables, weight = Tables(), f"int{fixed.bits}_t"
    types = index_types([layer.table for layer in fixed.layers])
    lines = []
    for layer in fixed.layers:
        arrays = [
            tables.add(types[0], layer.table.counts),
            tables.add(types[1], layer.table.rows),
            tables.add("uint8_t", layer.table.distances),
            tables.add(weight, layer.weights),
            tables.add(total, layer.bias) if layer.bias.any() else "0",
            tables.add("uint8_t", layer.shifts),
        ]
        lines.append(layer_line(layer.table, arrays, int(layer.relu)))
    arrays_text = f"    const {weight} *weight;\n    const {total} *bias;\n    const uint8_t *shift;"
    return layers_text(lines, tables, types, arrays_text, "relu")
