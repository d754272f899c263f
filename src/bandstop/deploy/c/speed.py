"""C for speed: each operation of a plan in its code form."""

from __future__ import annotations

from bandstop.deploy.c import loops
from bandstop.deploy.c.buffers import Buffers
from bandstop.deploy.c.code import NetworkCode
from bandstop.deploy.c.interleave import interleaved_lines, interleaved_loop
from bandstop.deploy.c.kernels import kernel_text
from bandstop.deploy.c.lstm import cell_update
from bandstop.deploy.c.text import activation_code, c_float, index_type
from bandstop.deploy.ir.program import Affine, Program, Recurrent
from bandstop.deploy.plan import LANES
from bandstop.deploy.plan.choose import Plan, PlannedOp
from bandstop.deploy.plan.straight import Statement, constant_result

__all__ = ["emit_speed"]


def emit_speed(plan: Plan) -> NetworkCode:
    """The network's code as planned."""
    program = plan.program
    at = Buffers(program.input, program.output)
    body = [line for planned in plan.operations for line in _operation(planned, program, at)]
    tables = at.tables.text()
    index = f"typedef {index_type(max(program.sizes.values()))} index_t;" if "index_t" in tables else ""
    definitions = "\n".join([index, tables, kernel_text(at.kernels)])
    return NetworkCode(program, definitions, "\n".join(body), at.work, str(plan))


def _operation(planned: PlannedOp, program: Program, at: Buffers) -> list[str]:
    operation = planned.operation
    last = operation.dst == program.output
    size = planned.size or program.sizes[operation.dst]
    at.reserve(operation.dst, size, None if last else planned.positions)
    if isinstance(operation, Recurrent):
        return _recurrent(planned, operation, at)
    if operation.activation in ("tanh", "sigmoid"):
        at.kernels.add("smooth")
    lines = _affine(operation, planned, at, padded=not last)
    return [f"    /* {operation.dst}: {planned.form} */", *lines]


def _affine(operation: Affine, planned: PlannedOp, at: Buffers, *, padded: bool) -> list[str]:
    """The sums in their code form; ``padded``: whole vectors may be stored past the last result."""
    form, live = planned.form, planned.live
    if form == "straight":
        return [_statement(operation, statement, at) for statement in planned.statements]
    if form == "interleaved":
        at.kernels.add("vectors")
        start = at.start(operation.dst)
        return interleaved_lines(planned.groups, start, operation.activation, at.address, at.tables)
    if form == "interleaved loop":
        return _interleaved_loop(operation, planned, at, padded=padded)
    if form == "rows":
        return loops.rows(operation, live, at)
    if form == "dense rows":
        return loops.dense_rows(operation, live, at)
    if form in ("transposed", "left transposed"):
        return loops.transposed(operation, live, at, back=form == "transposed")
    if form == "blocks":
        return loops.blocks(operation, live, at, padded=padded)
    return loops.scan(operation, live, at)


def _interleaved_loop(operation: Affine, planned: PlannedOp, at: Buffers, *, padded: bool) -> list[str]:
    """The loop stores results by their number of reads; scores are put in order afterwards."""
    at.kernels.add("interleave")
    name = operation.dst
    if not padded:
        name = f"{operation.dst} by reads"
        at.reserve(name, len(planned.groups) * LANES)
    lines = interleaved_loop(planned.groups, at.start(name), operation.activation, at.address, at.tables)
    if padded or planned.positions is None:
        return lines
    table = at.tables.add("index_t", planned.positions)
    copy = f"{at.start(operation.dst)}[i] = {at.start(name)}[{table}[i]];"
    return [*lines, f"    for (i = 0; i < {len(planned.positions)}; ++i) {copy}"]


def _statement(operation: Affine, statement: Statement, at: Buffers) -> str:
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


def _vector(operation: Affine, statement: Statement, at: Buffers) -> str:
    """Vectors of one row.

    Several sums run side by side, and no value is kept in a register for the next row.
    """
    at.kernels.add("vectors")
    count = statement.lanes // LANES
    names = [f"a{i}" for i in range(count)]
    lines = []
    for i, name in enumerate(names):
        bias = statement.bias[i * LANES : (i + 1) * LANES]
        if (bias == bias[0]).all():
            lines.append(f"BROADCAST({name}, {c_float(float(bias[0]))});")
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
    return f"    {{ lanes {', '.join(names)}; BARRIER; {' '.join(lines)} }}"


def _recurrent(planned: PlannedOp, operation: Recurrent, at: Buffers) -> list[str]:
    units = operation.hidden
    for name, size in (("gates", 4 * units), ("hidden", units), ("cell", units)):
        at.reserve(name, size)
    at.kernels.add("smooth")
    names = {name: at.start(name) for name in ("gates", "hidden", "cell")}
    names |= {"dst": at.start(operation.dst), "source": at.start(operation.src)}
    with at.aliased(operation.src, "x"):
        inner = [f"    {line}" for line in _affine(operation.gates, planned, at, padded=True)]
    return cell_update(operation, planned.live[:units], inner, names, at.tables)
