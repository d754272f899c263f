"""C in fixed point: the size emitter's loop over whole numbers, for devices without floating point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.files import CFiles, assemble
from bandstop.deploy.c.text import Tables, c_float, index_type
from bandstop.deploy.ir.quantise import FixedProgram, quantise, sum_bits
from bandstop.deploy.ir.workspace import workspace
from bandstop.deploy.lower import lower
from bandstop.deploy.model import DeployModel

__all__ = ["fixed_files"]

LAYER = """typedef struct {{
    const {count} *count;
    const {row} *row;
    const uint8_t *distance;
    const int{bits}_t *weight;
    const int{sum}_t *bias;
    const uint8_t *shift;
    uint16_t rows, width, dst_step, src_step, unit, relu;
}} layer;"""

MIX = """static void mix(const layer *l, const int16_t *src, int16_t *dst)
{{
    const uint8_t *distance = l->distance;
    const int{bits}_t *weight = l->weight;
    uint32_t r, p, e;
    for (r = 0; r < l->rows; ++r) {{
        const uint32_t count = l->count[r], shift = l->shift[r];
        int16_t *out = dst + l->row[r];
        for (p = 0; p < l->width; ++p, out += l->dst_step) {{
            const int16_t *in = src + p * l->src_step;
            int{sum}_t sum = l->bias ? l->bias[r] : 0;
            for (e = 0; e < count; ++e) {{
                in += (uint32_t)distance[e] * l->unit;
                sum += (int{sum}_t)weight[e] * *in;
            }}
            /* Exporting has checked that no input can make the sum reach 2^{top}. */
            sum = (sum + (int{sum}_t)(((uint{sum}_t)1 << shift) >> 1)) >> shift;
            if (sum > 32767) sum = 32767;
            if (sum < (l->relu ? 0 : -32767)) sum = l->relu ? 0 : -32767;
            *out = (int16_t)sum;
        }}
        distance += count;
        weight += count;
    }}
}}"""

ENCODE = """static void encode(const float *from, int16_t *to)
{{
    int i;
    for (i = 0; i < {size}; ++i) {{
        float v = from[i] * {scale};
        v = v > 32767.0f ? 32767.0f : v < -32767.0f ? -32767.0f : v;
        to[i] = (int16_t)(v < 0.0f ? v - 0.5f : v + 0.5f);
    }}
}}"""


def fixed_files(
    model: DeployModel,
    inputs: NDArray[np.floating],
    *,
    bits: int,
    name: str = "recogniser",
    open_ended: bool = False,
) -> CFiles:
    """C99 of a model with ``bits``-bit weights, scaled on calibration ``inputs``."""
    fixed = quantise(lower(model.net, model.example, compact=True), inputs, bits=bits)
    definitions, body, work = _emit(fixed)
    program = fixed.program
    scale = 2.0 ** fixed.exponents[program.input]
    if model.normaliser is not None:
        definitions += "\n" + ENCODE.format(size=program.sizes[program.input], scale=c_float(scale))
    return assemble(
        model,
        program,
        name=name,
        definitions=definitions,
        body=body,
        work=work,
        plan=f"index tables, {bits}-bit weights, 16-bit values",
        open_ended=open_ended,
        number="int16_t",
        signal_scale=scale,
    )


def _emit(fixed: FixedProgram) -> tuple[str, str, int]:
    program, tables, total = fixed.program, Tables(), sum_bits(fixed.bits)
    tables_used = [layer.table for layer in fixed.layers]
    count = index_type(max(int(t.counts.max(initial=0)) for t in tables_used))
    row = index_type(max(int(t.rows.max(initial=0)) for t in tables_used))
    starts, work = workspace(program, output=True)
    places = {program.input: "signal", **{name: f"work + {start}" for name, start in starts.items()}}
    lines, body = [], []
    for number, layer in enumerate(fixed.layers):
        size, table = program.sizes[layer.dst], layer.table
        if layer.fill:
            body.append(f"    for (i = 0; i < {size}; ++i) work[{starts[layer.dst]} + i] = 0;")
        names = [
            tables.add(count, table.counts),
            tables.add(row, table.rows),
            tables.add("uint8_t", table.distances),
            tables.add(f"int{fixed.bits}_t", layer.weights),
            tables.add(f"int{total}_t", layer.bias) if layer.bias.any() else "0",
            tables.add("uint8_t", layer.shifts),
        ]
        sizes = [len(table.rows), table.width, table.dst_step, table.src_step, table.unit, int(layer.relu)]
        lines.append(f"    {{{', '.join([*names, *map(str, sizes)])}}}")
        body.append(f"    mix(&layers[{number}], {places[table.src]}, {places[layer.dst]});")
    factor = c_float(2.0 ** -fixed.exponents[program.output])
    last = starts[program.output]
    body.append(
        f"    for (i = 0; i < {program.classes}; ++i) scores[i] = (float)work[{last} + i] * {factor};"
    )
    table_text = f"static const layer layers[{len(lines)}] = {{\n" + ",\n".join(lines) + "\n};"
    head = LAYER.format(count=count, row=row, bits=fixed.bits, sum=total)
    loop = MIX.format(bits=fixed.bits, sum=total, top=total - 1)
    return "\n".join([head, tables.text(), table_text, loop]), "\n".join(body), work
