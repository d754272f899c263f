"""C for size: one loop that reads delta-coded tables, called once per operation."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.c.code import NetworkCode
from bandstop.deploy.c.lstm import cell_update
from bandstop.deploy.c.table_loop import index_types, layer_line, layers_text
from bandstop.deploy.c.text import Tables, activation_code, filled
from bandstop.deploy.ir.delta_tables import DeltaTable, delta_tables
from bandstop.deploy.ir.program import Affine, Mask, Program, Recurrent, activate
from bandstop.deploy.ir.simplify import live_units, liveness
from bandstop.deploy.ir.workspace import workspace

__all__ = ["emit_size"]


def emit_size(program: Program) -> NetworkCode:
    """The network's code as tables and one loop."""
    code = _SizeCode(program)
    smooth = bool(code.activations & {"tanh", "sigmoid"})
    parts = [filled("relu.c"), *([filled("smooth.c"), filled("activation.c")] if smooth else [])]
    result = "act_by(l->kind, sum)" if smooth else "l->kind == 1 ? act_relu(sum) : sum"
    if not smooth and "leaky" in code.activations:
        result = "l->kind == 1 ? act_relu(sum) : l->kind == 2 ? act_leaky(sum) : sum"
    parts.append(code.layers())
    if code.layer_tables:
        loop = {"value": "float", "weight": "float", "sum": "float", "shift": "", "cast": ""}
        parts.append(filled("table_loop.c", start="*out", finish=f"            *out = {result};", **loop))
    return NetworkCode(program, "\n".join(parts), "\n".join(code.body), code.work, "index tables")


class _SizeCode:
    def __init__(self, program: Program) -> None:
        self.program, self.tables = program, Tables()
        offsets, self.work = workspace(program, output=False)
        self.buffers = {name: f"work + {offset}" for name, offset in offsets.items()}
        self.buffers[program.input] = "signal"
        self.layer_tables: list[tuple[DeltaTable, int]] = []
        self.activations: set[str] = set()
        self.body: list[str] = []
        live = liveness(program)
        for operation in program.operations:
            self._reserve(operation.dst, program.sizes[operation.dst])
            if isinstance(operation, Recurrent):
                self._recurrent(operation, live[operation.dst])
            else:
                self.body += self._affine(operation, live[operation.dst])

    def _reserve(self, name: str, size: int) -> None:
        if name == self.program.output:
            self.buffers[name] = "scores"
        elif name not in self.buffers:
            self.buffers[name] = f"work + {self.work}"
            self.work += size

    def _affine(self, operation: Affine, live: Mask) -> list[str]:
        self.activations.add(operation.activation)
        found, fill = delta_tables(operation, live)
        dst, size = self.buffers[operation.dst], len(operation.bias)
        code, lines, alone = activation_code(operation.activation), [], len(found) == 1
        if fill is not None:
            if alone:
                # The one term finishes what it reaches; what it does not reach is finished here.
                reached = np.zeros(size, bool)
                reached[operation.terms[0].destinations().ravel()] = True
                fill = np.where(reached, fill, activate(operation.activation, fill)).astype(np.float32)
            value = f"{self.tables.add('float', fill)}[i]" if fill.any() else "0.0f"
            lines.append(f"    for (i = 0; i < {size}; ++i) ({dst})[i] = {value};")
        for table in found:
            self.layer_tables.append((table, code if alone else 0))
            lines.append(f"    mix(&layers[{len(self.layer_tables) - 1}], {self.buffers[table.src]}, {dst});")
        if len(found) > 1 and code:
            self.activations.add("sigmoid")
            lines.append(f"    for (i = 0; i < {size}; ++i) ({dst})[i] = act_by({code}, ({dst})[i]);")
        return lines

    def _recurrent(self, operation: Recurrent, live: Mask) -> None:
        units = operation.hidden
        for name, size in (("gates", 4 * units), ("hidden", units), ("cell", units)):
            self._reserve(name, size)
        self.activations |= {"tanh", "sigmoid"}
        needed = live_units(operation, live)
        source = self.buffers[operation.src]
        self.buffers[operation.src] = "x"
        inner = [f"    {line}" for line in self._affine(operation.gates, np.tile(needed, 4))]
        self.buffers[operation.src] = source
        buffers = {name: f"({expression})" for name, expression in self.buffers.items()}
        buffers |= {"dst": buffers[operation.dst], "source": f"({source})"}
        self.body += cell_update(operation, needed, inner, buffers, self.tables)

    def layers(self) -> str:
        """The tables and, where there are layers, the array of them."""
        if not self.layer_tables:
            return self.tables.text()
        types = index_types([table for table, _ in self.layer_tables])
        lines = []
        for table, code in self.layer_tables:
            bias = "0" if table.bias is None else self.tables.add("float", table.bias)
            arrays = [
                self.tables.add(types[0], table.counts),
                self.tables.add(types[1], table.rows),
                self.tables.add("uint8_t", table.distances),
                self.tables.add("float", table.weights),
            ]
            lines.append(layer_line(table, [*arrays, bias], code))
        return layers_text(lines, self.tables, types, "    const float *weight, *bias;", "kind")
