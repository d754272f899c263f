"""C for size: one loop that reads compact tables, called once per operation."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.c.kernels import PICK, PLAIN, SMOOTH
from bandstop.deploy.c.lstm import cell_update
from bandstop.deploy.c.text import Tables, index_type
from bandstop.deploy.ir.delta_tables import Compact, compact_terms
from bandstop.deploy.ir.program import Affine, Program, Recurrent, activate
from bandstop.deploy.ir.simplify import Mask, live_units, liveness
from bandstop.deploy.ir.workspace import workspace

__all__ = ["emit_size"]

CODES = {"none": 0, "relu": 1, "leaky": 2, "tanh": 3, "sigmoid": 4}

LAYER = """typedef struct {{
    const {count} *count;
    const {row} *row;
    const uint8_t *distance;
    const float *weight, *bias;
    uint16_t rows, width, dst_step, src_step, unit, kind;
}} layer;"""

MIX = """static void mix(const layer *l, const float *src, float *dst)
{
    const uint8_t *distance = l->distance;
    const float *weight = l->weight;
    uint32_t r, p, e;
    for (r = 0; r < l->rows; ++r) {
        const uint32_t count = l->count[r];
        float *out = dst + l->row[r];
        for (p = 0; p < l->width; ++p, out += l->dst_step) {
            const float *in = src + p * l->src_step;
            float sum = l->bias ? l->bias[r] : *out;
            for (e = 0; e < count; ++e) {
                in += (uint32_t)distance[e] * l->unit;
                sum += weight[e] * *in;
            }
            *out = %s;
        }
        distance += count;
        weight += count;
    }
}"""


class _SizeCode:
    def __init__(self, program: Program) -> None:
        self.program, self.tables = program, Tables()
        starts, self.work = workspace(program, output=False)
        self.places = {name: f"work + {start}" for name, start in starts.items()}
        self.places[program.input] = "signal"
        self.compacts: list[tuple[Compact, int]] = []
        self.kinds: set[str] = set()
        self.body: list[str] = []
        live = liveness(program)
        for operation in program.operations:
            self._room(operation.dst, program.sizes[operation.dst])
            if isinstance(operation, Recurrent):
                self._recurrent(operation, live[operation.dst])
            else:
                self.body += self._affine(operation, live[operation.dst])

    def _room(self, name: str, size: int) -> None:
        if name == self.program.output:
            self.places[name] = "scores"
        elif name not in self.places:
            self.places[name] = f"work + {self.work}"
            self.work += size

    def _affine(self, operation: Affine, live: Mask) -> list[str]:
        self.kinds.add(operation.activation)
        compacts, fill = compact_terms(operation, live)
        dst, size, kind, lines = (
            self.places[operation.dst],
            len(operation.bias),
            CODES[operation.activation],
            [],
        )
        alone = len(compacts) == 1
        if fill is not None:
            if alone:
                # The one term finishes what it reaches; what it does not reach is finished here.
                reached = np.zeros(size, bool)
                reached[operation.terms[0].destinations().ravel()] = True
                fill = np.where(reached, fill, activate(operation.activation, fill)).astype(np.float32)
            value = f"{self.tables.add('float', fill)}[i]" if fill.any() else "0.0f"
            lines.append(f"    for (i = 0; i < {size}; ++i) ({dst})[i] = {value};")
        for compact in compacts:
            self.compacts.append((compact, kind if alone else 0))
            lines.append(f"    mix(&layers[{len(self.compacts) - 1}], {self.places[compact.src]}, {dst});")
        if len(compacts) > 1 and kind:
            self.kinds.add("sigmoid")
            lines.append(f"    for (i = 0; i < {size}; ++i) ({dst})[i] = act_by({kind}, ({dst})[i]);")
        return lines

    def _recurrent(self, operation: Recurrent, live: Mask) -> None:
        units = operation.hidden
        for name, size in (("gates", 4 * units), ("hidden", units), ("cell", units)):
            self._room(name, size)
        self.kinds |= {"tanh", "sigmoid"}
        needed = live_units(operation, live)
        source = self.places[operation.src]
        self.places[operation.src] = "x"
        inner = [f"    {line}" for line in self._affine(operation.gates, np.tile(needed, 4))]
        self.places[operation.src] = source
        places = {name: f"({place})" for name, place in self.places.items()}
        places |= {"dst": places[operation.dst], "source": f"({source})"}
        self.body += cell_update(operation, needed, inner, places, self.tables)

    def layers(self) -> str:
        compacts = [c for c, _ in self.compacts]
        count = index_type(max((int(c.counts.max(initial=0)) for c in compacts), default=0))
        row = index_type(max((int(c.rows.max(initial=0)) for c in compacts), default=0))
        lines = []
        for compact, kind in self.compacts:
            bias = "0" if compact.bias is None else self.tables.add("float", compact.bias)
            names = [
                self.tables.add(count, compact.counts),
                self.tables.add(row, compact.rows),
                self.tables.add("uint8_t", compact.distances),
                self.tables.add("float", compact.weights),
                bias,
            ]
            sizes = [len(compact.rows), compact.width, compact.dst_step, compact.src_step, compact.unit, kind]
            lines.append(f"    {{{', '.join([*names, *map(str, sizes)])}}}")
        if not lines:
            return self.tables.text()
        table = f"static const layer layers[{len(lines)}] = {{\n" + ",\n".join(lines) + "\n};"
        return "\n".join([LAYER.format(count=count, row=row), self.tables.text(), table])


def emit_size(program: Program) -> tuple[str, str, int]:
    """``(definitions, body of the network function, floats of workspace)``."""
    code = _SizeCode(program)
    smooth = bool(code.kinds & {"tanh", "sigmoid"})
    parts = [PLAIN, *([SMOOTH, PICK] if smooth else [])]
    simple = "leaky" not in code.kinds
    result = "act_by(l->kind, sum)" if smooth else "l->kind == 1 ? act_relu(sum) : sum"
    if not smooth and not simple:
        result = "l->kind == 1 ? act_relu(sum) : l->kind == 2 ? act_leaky(sum) : sum"
    layers = code.layers()
    parts += [layers] + ([MIX % result] if code.compacts else [])
    return "\n".join(parts), "\n".join(code.body), code.work
