"""C for speed: each step of a schedule as straight-line code, an index loop or a dense block."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.c_kernels import kernel_text
from bandstop.deploy.c_lstm import cell_update
from bandstop.deploy.c_text import Tables, c_float, index_type
from bandstop.deploy.c_turned import turned_call
from bandstop.deploy.cost import LANES, row_blocks, vectors
from bandstop.deploy.program import Affine, Floats, Recurrent, Term, activate
from bandstop.deploy.schedule import Schedule, Step
from bandstop.deploy.simplify import Mask
from bandstop.deploy.straight import Statement, constant_result

__all__ = ["SpeedCode", "emit_speed"]

BLOCK = 6 * LANES


class SpeedCode:
    """Body of the network function, the tables and kernels it uses, and the workspace it needs (in floats)."""

    def __init__(self, schedule: Schedule) -> None:
        self.program = schedule.program
        self.tables, self.kernels, self.places = Tables(), set[str](), dict[str, str]()
        self.work = 0
        self.places[self.program.input] = "signal"
        self.body: list[str] = []
        for step in schedule.steps:
            self._step(step)

    def _room(self, name: str, size: int) -> str:
        """A place in the workspace, with slack so that whole vectors may be stored."""
        if name == self.program.output:
            self.places[name] = "scores"
        elif name not in self.places:
            self.places[name] = f"(work + {self.work})"
            self.work += -(-size // LANES) * LANES
        return self.places[name]

    def _step(self, step: Step) -> None:
        operation = step.operation
        self._room(operation.dst, self.program.sizes[operation.dst])
        if isinstance(operation, Recurrent):
            self._recurrent(step, operation)
            return
        self.body.append(f"    /* {operation.dst}: {step.kind} */")
        if operation.activation in ("tanh", "sigmoid"):
            self.kernels.add("smooth")
        self.body += self._affine(operation, step)

    def _affine(self, operation: Affine, step: Step) -> list[str]:
        if step.kind == "straight":
            return [self._statement(operation, statement) for statement in step.statements]
        if step.kind == "rows":
            return self._rows(operation)
        if step.kind == "dense rows":
            return self._dense_rows(operation)
        if step.kind == "turned":
            return [turned_call(operation, self.places, self.tables, self.kernels)]
        if step.kind == "blocks":
            return self._blocks(operation, step.live)
        return self._scan(operation)

    def _statement(self, operation: Affine, statement: Statement) -> str:
        if statement.lanes > 1:
            return self._vector(operation, statement)
        target = f"{self.places[operation.dst]}[{statement.start}]"
        if not statement.reads:
            return f"    {target} = {c_float(constant_result(statement, operation))};"
        parts = [f"{c_float(w)} * {self.places[src]}[{column}]" for src, column, w in statement.reads]
        if statement.bias[0] != 0:
            parts.insert(0, c_float(float(statement.bias[0])))
        # Long sums are split so that they do not wait for one another's last addition.
        groups = [" + ".join(parts[i::k]) for k in [max(1, min(4, len(parts) // 6))] for i in range(k)]
        total = groups[0] if len(groups) == 1 else " + ".join(f"({g})" for g in groups)
        return f"    {target} = {_activation(operation, total)};"

    def _vector(self, operation: Affine, statement: Statement) -> str:
        self.kernels.add("vectors")
        dst, lines = self.places[operation.dst], []
        for lane in range(0, statement.lanes, LANES):
            bias = statement.bias[lane : lane + LANES]
            if (bias == bias[0]).all():
                lines.append(f"SPREAD(a, {c_float(float(bias[0]))});")
            else:
                lines.append(f"LOAD(a, {self.tables.add('float', bias)});")
            for src, column, weight in statement.reads:
                lines.append(f"ADD(a, {c_float(weight)}, {self.places[src]} + {column + lane});")
            start = f"{dst} + {statement.start + lane}"
            if operation.activation == "relu":
                lines.append("RELU(a);")
            lines.append(f"STORE({start}, a);")
            if operation.activation not in ("none", "relu"):
                lines.append(f"finish({start}, {LANES}, {_code(operation)});")
        return "    { lanes a; " + " ".join(lines) + " }"

    def _grouped(self, term: Term) -> tuple[np.ndarray, np.ndarray, Term]:
        order = np.lexsort((term.columns, term.rows))
        sorted_term = Term(term.src, term.rows[order], term.columns[order], term.weights[order], term.width)
        rows, counts = np.unique(sorted_term.rows, return_counts=True)
        return rows, np.cumsum(counts), sorted_term

    def _uncovered(self, operation: Affine) -> list[str]:
        """Results that no entry reaches are constants, or nothing that is read."""
        covered = np.zeros(len(operation.bias), bool)
        for term in operation.terms:
            covered[term.destinations().ravel()] = True
        if covered.all():
            return []
        start = self.tables.add("float", _constant(operation)) if _constant(operation).any() else ""
        copy = f"{start}[i]" if start else "0.0f"
        return [f"    for (i = 0; i < {len(covered)}; ++i) {self.places[operation.dst]}[i] = {copy};"]

    def _rows(self, operation: Affine) -> list[str]:
        term = operation.terms[0]
        rows, ends, grouped = self._grouped(term)
        count, kernel = vectors(term.width), f"rows{vectors(term.width)}"
        self.kernels.add(kernel)
        bias = self.tables.add("float", operation.bias[(rows[:, None] + np.arange(count * LANES)).ravel()])
        names = [self.tables.add("place_t", rows), self.tables.add("uint32_t", ends)]
        names.append(self.tables.add("place_t", grouped.columns))
        weights = self.tables.add("float", grouped.weights)
        call = f"    {kernel}({self.places[operation.dst]}, {self.places[term.src]}, {len(rows)}, "
        call += f"{', '.join(names)}, {weights}, {bias}, {_code(operation)});"
        return [*self._uncovered(operation), call]

    def _dense_rows(self, operation: Affine) -> list[str]:
        term = operation.terms[0]
        rows, columns = np.unique(term.rows), np.unique(term.columns)
        count, kernel = vectors(term.width), f"dense_rows{vectors(term.width)}"
        self.kernels.add(kernel)
        padded = -(-len(rows) // 4) * 4
        matrix = np.zeros((padded, len(columns)), np.float32)
        matrix[np.searchsorted(rows, term.rows), np.searchsorted(columns, term.columns)] = term.weights
        places = np.concatenate([rows, np.repeat(rows[-1:], padded - len(rows))])
        matrix[len(rows) :] = matrix[len(rows) - 1]
        bias = self.tables.add("float", operation.bias[(places[:, None] + np.arange(count * LANES)).ravel()])
        weights = self.tables.add("float", matrix.reshape(-1, 4, len(columns)).transpose(0, 2, 1).ravel())
        names = [self.tables.add("place_t", v) for v in (places, columns)]
        call = f"    {kernel}({self.places[operation.dst]}, {self.places[term.src]}, {padded}, {names[0]}, "
        call += f"{len(columns)}, {names[1]}, {weights}, {bias}, {_code(operation)});"
        return [*self._uncovered(operation), call]

    def _blocks(self, operation: Affine, live: Mask) -> list[str]:
        term, lines = operation.terms[0], []
        for block in row_blocks(term.rows):
            for first in range(int(block[0]), int(block[-1]) + 1, BLOCK):
                lines += self._block(operation, live, first, min(first + BLOCK, int(block[-1]) + 1))
        return [*self._uncovered(operation), *lines]

    def _block(self, operation: Affine, live: Mask, first: int, last: int) -> list[str]:
        term = operation.terms[0]
        inside = (term.rows >= first) & (term.rows < last)
        columns = np.unique(term.columns[inside])
        if not len(columns):
            return []
        count = vectors(last - first)
        matrix = np.zeros((len(columns), count * LANES), np.float32)
        matrix[np.searchsorted(columns, term.columns[inside]), term.rows[inside] - first] = term.weights[
            inside
        ]
        places = first + np.arange(term.width)[:, None] * term.dst_step + np.arange(count * LANES)
        bias = np.pad(operation.bias, (0, count * LANES))[places].astype(np.float32)
        kernel = f"block{count}"
        self.kernels.add(kernel)
        names = (
            self.tables.add("place_t", columns),
            self.tables.add("float", matrix.ravel()),
            self.tables.add("float", bias.ravel()),
        )
        where = (
            f"{self.places[operation.dst]} + {first}, {last - first}, {self.places[term.src]}, {len(columns)}"
        )
        spare = places[:, last - first :]
        whole = (
            operation.dst != self.program.output and bool((spare < len(live)).all()) and not live[spare].any()
        )
        steps = f"{term.width}, {term.dst_step}, {term.src_step}, {int(whole)}"
        return [f"    {kernel}({where}, {', '.join(names)}, {steps}, {_code(operation)});"]

    def _scan(self, operation: Affine) -> list[str]:
        dst, size = self.places[operation.dst], len(operation.bias)
        if len(operation.terms) == 1 and operation.terms[0].width == 1:
            term = operation.terms[0]
            rows, ends, grouped = self._grouped(term)
            self.kernels.add("scan")
            names = [
                self.tables.add("place_t", rows),
                self.tables.add("uint32_t", ends),
                self.tables.add("place_t", grouped.columns),
                self.tables.add("float", grouped.weights),
                self.tables.add("float", operation.bias[rows]),
            ]
            call = f"    scan({dst}, {self.places[term.src]}, {len(rows)}, {', '.join(names)}, {_code(operation)});"
            return [*self._uncovered(operation), call]
        lines = [
            f"    for (i = 0; i < {size}; ++i) {dst}[i] = {self.tables.add('float', operation.bias)}[i];"
        ]
        for term in operation.terms:
            self.kernels.add("add_term")
            names = [self.tables.add("place_t", v) for v in (term.rows, term.columns)]
            lines.append(
                f"    add_term({dst}, {self.places[term.src]}, {len(term)}, {', '.join(names)}, "
                f"{self.tables.add('float', term.weights)}, {term.width}, {term.dst_step}, {term.src_step});"
            )
        if operation.activation != "none":
            lines.append(
                f"    for (i = 0; i < {size}; ++i) {dst}[i] = {_activation(operation, f'{dst}[i]')};"
            )
        return lines

    def _recurrent(self, step: Step, operation: Recurrent) -> None:
        units = operation.hidden
        source = self.places[operation.src]
        for name, size in (("gates", 4 * units), ("hidden", units), ("cell", units)):
            self._room(name, size)
        self.kernels.add("smooth")
        self.places[operation.src] = "x"
        inner = [f"    {line}" for line in self._affine(operation.gates, step)]
        self.places[operation.src] = source
        places = {**self.places, "dst": self.places[operation.dst], "source": source}
        self.body += cell_update(operation, step.live[:units], inner, places, self.tables)


def _constant(operation: Affine) -> Floats:
    return activate(operation.activation, operation.bias)


def _activation(operation: Affine, value: str) -> str:
    return value if operation.activation == "none" else f"act_{operation.activation}({value})"


def _code(operation: Affine) -> str:
    return {"none": "0", "relu": "1", "leaky": "2", "tanh": "3", "sigmoid": "4"}[operation.activation]


def emit_speed(schedule: Schedule) -> tuple[str, str, int]:
    """``(definitions, body of the network function, floats of workspace)``."""
    code = SpeedCode(schedule)
    place = index_type(max(schedule.program.sizes.values()))
    definitions = [f"typedef {place} place_t;" if "place_t" in code.tables.text() else "", code.tables.text()]
    return "\n".join([*definitions, kernel_text(code.kernels)]), "\n".join(code.body), code.work
