"""C for speed: each step of a schedule as straight-line code, an index loop or a dense block."""

from __future__ import annotations

from bandstop.deploy.c import loops as c_loops
from bandstop.deploy.c.buffers import Places
from bandstop.deploy.c.interleave import activation_code, woven_lines, woven_loop
from bandstop.deploy.c.kernels import kernel_text
from bandstop.deploy.c.lstm import cell_update
from bandstop.deploy.c.text import c_float, index_type
from bandstop.deploy.ir.program import Affine, Program, Recurrent
from bandstop.deploy.plan.choose import Schedule, Step
from bandstop.deploy.plan.cost import LANES
from bandstop.deploy.plan.interleave import positions, weave
from bandstop.deploy.plan.straight import Statement, constant_result

__all__ = ["emit_speed"]


def emit_speed(schedule: Schedule) -> tuple[str, str, int]:
    """``(definitions, body of the network function, floats of workspace)``."""
    program = schedule.program
    at = Places(program.input, program.output)
    body = [line for step in schedule.steps for line in _step(step, program, at)]
    tables = at.tables.text()
    place = f"typedef {index_type(max(program.sizes.values()))} place_t;" if "place_t" in tables else ""
    return "\n".join([place, tables, kernel_text(at.kernels)]), "\n".join(body), at.work


def _step(step: Step, program: Program, at: Places) -> list[str]:
    operation = step.operation
    at.room(operation.dst, step.room or program.sizes[operation.dst], step.place)
    if isinstance(operation, Recurrent):
        return _recurrent(step, operation, at)
    if operation.activation in ("tanh", "sigmoid"):
        at.kernels.add("smooth")
    padded = operation.dst != program.output
    return [f"    /* {operation.dst}: {step.kind} */", *_affine(operation, step, at, padded=padded)]


def _affine(operation: Affine, step: Step, at: Places, *, padded: bool) -> list[str]:
    if step.kind == "straight":
        return [_statement(operation, statement, at) for statement in step.statements]
    if step.kind in ("woven", "woven loop"):
        at.kernels.add("vectors" if step.kind == "woven" else "weave")
        if step.kind == "woven":
            groups = weave(list(step.statements), ordered=not padded)
            return woven_lines(groups, at.start(operation.dst), operation.activation, at.address, at.tables)
        return _woven_loop(operation, step, at, padded)
    if step.kind == "rows":
        return c_loops.rows(operation, step.live, at)
    if step.kind == "dense rows":
        return c_loops.dense_rows(operation, step.live, at)
    if step.kind in ("turned", "left turned"):
        return c_loops.turned(operation, step.live, at, back=step.kind == "turned")
    if step.kind == "blocks":
        return c_loops.blocks(operation, step.live, at, padded=padded)
    return c_loops.scan(operation, step.live, at)


def _woven_loop(operation: Affine, step: Step, at: Places, padded: bool) -> list[str]:
    """The loop stores results by their number of reads; scores are put in order afterwards."""
    statements = list(step.statements)
    groups, name = weave(statements, ordered=False), operation.dst
    if not padded:
        name = f"{operation.dst} by reads"
        at.room(name, len(groups) * LANES)
    lines = woven_loop(groups, at.start(name), operation.activation, at.address, at.tables)
    if padded:
        return lines
    order = positions(statements, len(operation.bias), ordered=False)
    table = at.tables.add("place_t", order)
    copy = f"{at.start(operation.dst)}[i] = {at.start(name)}[{table}[i]];"
    return [*lines, f"    for (i = 0; i < {len(order)}; ++i) {copy}"]


def _statement(operation: Affine, statement: Statement, at: Places) -> str:
    if statement.lanes > 1:
        return _vector(operation, statement, at)
    target = at.element(operation.dst, statement.start)
    if not statement.reads:
        return f"    {target} = {c_float(constant_result(statement, operation))};"
    parts = [f"{c_float(w)} * {at.element(src, column)}" for src, column, w in statement.reads]
    if statement.bias[0] != 0:
        parts.insert(0, c_float(float(statement.bias[0])))
    # Long sums are split so that they do not wait for one another's last addition.
    groups = [" + ".join(parts[i::k]) for k in [max(1, min(4, len(parts) // 6))] for i in range(k)]
    total = groups[0] if len(groups) == 1 else " + ".join(f"({g})" for g in groups)
    value = total if operation.activation == "none" else f"act_{operation.activation}({total})"
    return f"    {target} = {value};"


def _vector(operation: Affine, statement: Statement, at: Places) -> str:
    """Vectors of one row; several sums run side by side, and no row's values are kept in registers for the next."""
    at.kernels.add("vectors")
    count = statement.lanes // LANES
    names = [f"a{i}" for i in range(count)]
    lines = []
    for i, name in enumerate(names):
        bias = statement.bias[i * LANES : (i + 1) * LANES]
        if (bias == bias[0]).all():
            lines.append(f"SPREAD({name}, {c_float(float(bias[0]))});")
        else:
            lines.append(f"LOAD({name}, {at.tables.add('float', bias)});")
    for src, column, weight in statement.reads:
        base, index = at.address(src, column)
        lines += [
            f"ADD({name}, {c_float(weight)}, {base} + {index + i * LANES});" for i, name in enumerate(names)
        ]
    base, index = at.address(operation.dst, statement.start)
    for i, name in enumerate(names):
        start = f"{base} + {index + i * LANES}"
        lines += [f"RELU({name});"] if operation.activation == "relu" else []
        lines.append(f"STORE({start}, {name});")
        if operation.activation not in ("none", "relu"):
            lines.append(f"finish({start}, {LANES}, {activation_code(operation.activation)});")
    return f"    {{ lanes {', '.join(names)}; SETTLE; {' '.join(lines)} }}"


def _recurrent(step: Step, operation: Recurrent, at: Places) -> list[str]:
    units = operation.hidden
    for name, size in (("gates", 4 * units), ("hidden", units), ("cell", units)):
        at.room(name, size)
    at.kernels.add("smooth")
    names = {name: at.start(name) for name in ("gates", "hidden", "cell")}
    names |= {"dst": at.start(operation.dst), "source": at.start(operation.src)}
    before = at.move(operation.src, "x")
    inner = [f"    {line}" for line in _affine(operation.gates, step, at, padded=True)]
    at.restore(operation.src, before)
    return cell_update(operation, step.live[:units], inner, names, at.tables)
