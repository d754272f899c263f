"""The plan of a program: a code form for each operation, what it must compute, and where results lie."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bandstop.deploy.ir.program import Affine, Ints, Mask, Operation, Program, Recurrent
from bandstop.deploy.ir.simplify import constants, live_units, liveness
from bandstop.deploy.plan import LANES
from bandstop.deploy.plan.cost import (
    MACHINE,
    Machine,
    block_cost,
    dense_row_cost,
    row_cost,
    rows_possible,
    scan_cost,
)
from bandstop.deploy.plan.interleave import (
    Group,
    group_positions,
    interleave,
    interleaved_bytes,
    interleaved_cost,
    interleaved_loop_cost,
)
from bandstop.deploy.plan.straight import (
    Facts,
    Statement,
    code_bytes,
    scalar_statements,
    straight,
    straight_cost,
    straight_reads,
)
from bandstop.deploy.plan.transpose import transposable, transposed_cost, transposed_positions

__all__ = ["CodeForm", "Plan", "PlannedOp", "cheapest_plan", "make_plan"]

CodeForm = Literal[
    "straight",
    "interleaved",
    "interleaved loop",
    "rows",
    "dense rows",
    "blocks",
    "transposed",
    "left transposed",
    "scan",
]
BY_ELEMENT = ("interleaved", "interleaved loop")
UNROLLED_STEP_LIMIT = 1500
"""Weights of an LSTM step up to which it is written out."""
MOST_STATEMENTS = 60_000
"""Connections from which on writing them out is not even considered."""


@dataclass(frozen=True)
class PlannedOp:
    """An operation and its code form, the results that are needed, its statements where they are written out.

    ``positions`` says where the form stores each result, if not in order; ``size`` how many values that
    takes.
    """

    operation: Operation
    form: CodeForm
    live: Mask
    cost: float
    statements: tuple[Statement, ...] = ()
    groups: tuple[Group, ...] = ()
    positions: Ints | None = None
    size: int = 0


@dataclass(frozen=True)
class Plan:
    """The planned operations of a program in order, and their summed cost by the model."""

    program: Program
    operations: tuple[PlannedOp, ...]

    @property
    def cost(self) -> float:
        return sum(operation.cost for operation in self.operations)

    def __str__(self) -> str:
        return "\n".join(
            f"{o.operation.dst}: {o.form}, {o.cost:.0f} ns by the model" for o in self.operations
        )


def cheapest_plan(programs: Iterable[Program], machine: Machine = MACHINE) -> Plan:
    """The cheapest plan by the cost model over programs that compute the same.

    Interleaved readers let a transposed tensor stay transposed. Choosing one operation at a time would not
    see that, so each program is also planned with those readers interleaved.
    """
    plans = (
        make_plan(program, interleaved=names, machine=machine)
        for program in programs
        for names in dict.fromkeys((frozenset[str](), _readers_of_transposable(program)))
    )
    return min(plans, key=lambda plan: plan.cost)


def _readers_of_transposable(program: Program) -> frozenset[str]:
    affines = [o for o in program.operations if isinstance(o, Affine)]
    sources = {o.dst for o in affines if transposable(o, program.sizes)}
    return frozenset(o.dst for o in affines if sources & {term.src for term in o.terms})


@dataclass
class _Known:
    """What the later operations, already chosen, ask of the earlier ones."""

    facts: Facts
    input: str
    output: str
    live: dict[str, Mask]
    by_element: dict[str, bool]
    code: float
    machine: Machine


def make_plan(program: Program, *, interleaved: Set[str] = frozenset(), machine: Machine = MACHINE) -> Plan:
    """Choose from the last operation to the first: what a later one reads, an earlier one must compute.

    The operations named in ``interleaved`` are interleaved if they can be.
    """
    fixed, values = constants(program)
    live = {name: np.zeros(size, bool) for name, size in program.sizes.items()}
    live[program.output][: program.classes] = True
    known = _Known(
        Facts(program.sizes, fixed, values),
        program.input,
        program.output,
        live,
        dict.fromkeys(program.sizes, True),
        machine.code_limit,
        machine,
    )
    all_live = liveness(program)
    planned = []
    for operation in reversed(program.operations):
        wanted = live[operation.dst]
        if isinstance(operation, Recurrent):
            chosen = _recurrent(operation, wanted, program, machine)
            live[operation.src] |= all_live[operation.src]
            known.by_element[operation.src] = False
        else:
            chosen = _affine(operation, wanted, known, interleaved=operation.dst in interleaved)
            _mark(chosen, operation, known)
        planned.append(chosen)
    return Plan(program, tuple(reversed(planned)))


def _mark(chosen: PlannedOp, operation: Affine, known: _Known) -> None:
    single = chosen.form in BY_ELEMENT or (
        chosen.form == "straight" and all(s.lanes == 1 for s in chosen.statements)
    )
    for term in operation.terms:
        known.by_element[term.src] &= single
    if chosen.statements:
        for src, columns in straight_reads(list(chosen.statements)):
            known.live[src][columns] = True
        return
    for term in operation.terms:
        known.live[term.src][term.sources().ravel()] = True


def _affine(operation: Affine, wanted: Mask, known: _Known, *, interleaved: bool) -> PlannedOp:
    sizes, machine = known.facts.sizes, known.machine
    options = [PlannedOp(operation, "scan", wanted, scan_cost(operation, machine))]
    if sum(len(t) * t.width for t in operation.terms) < MOST_STATEMENTS:
        options += _written_out(operation, wanted, known)
    if len(operation.terms) == 1:
        term = operation.terms[0]
        options.append(PlannedOp(operation, "blocks", wanted, block_cost(term, machine)))
        if rows_possible(operation, sizes):
            options.append(PlannedOp(operation, "rows", wanted, row_cost(term, machine)))
            options.append(PlannedOp(operation, "dense rows", wanted, dense_row_cost(term, machine)))
        if transposable(operation, sizes):
            cost = transposed_cost(term, back=True, machine=machine)
            options.append(PlannedOp(operation, "transposed", wanted, cost))
            if known.by_element[operation.dst] and operation.dst != known.output:
                positions = transposed_positions(len(operation.bias), term.dst_step, term.width)
                cost = transposed_cost(term, back=False, machine=machine)
                left = PlannedOp(operation, "left transposed", wanted, cost, positions=positions)
                options.append(replace(left, size=len(positions)))
    by_element = [option for option in options if option.form in BY_ELEMENT]
    chosen = min(by_element if interleaved and by_element else options, key=lambda option: option.cost)
    known.code -= code_bytes(list(chosen.statements)) if chosen.form == "straight" else 0
    known.code -= interleaved_bytes(list(chosen.statements)) if chosen.form == "interleaved" else 0
    return chosen


def _written_out(operation: Affine, wanted: Mask, known: _Known) -> list[PlannedOp]:
    """Straight-line code, and interleaved results where their order is free (or that of the scores)."""
    statements = straight(operation, wanted, known.facts)
    found = []
    if code_bytes(statements) <= known.code:
        cost = straight_cost(statements, known.machine)
        found.append(PlannedOp(operation, "straight", wanted, cost, tuple(statements)))
    if known.by_element[operation.dst] or operation.dst == known.output:
        found += _interleaved(operation, wanted, known)
    return found


def _interleaved(operation: Affine, wanted: Mask, known: _Known) -> list[PlannedOp]:
    """Interleaved code where it fits the cache, and the loop where its tables can address every source."""
    found, machine, last = [], known.machine, operation.dst == known.output
    scalars = scalar_statements(operation, wanted, known.facts)
    ordered, loose = interleave(scalars, ordered=last), interleave(scalars, ordered=False)
    positions = group_positions(scalars, len(wanted), ordered=False)
    size = len(ordered) * LANES
    if interleaved_bytes(scalars) <= known.code:
        cost = interleaved_cost(ordered, machine)
        where = None if last else positions
        found.append(
            PlannedOp(operation, "interleaved", wanted, cost, tuple(scalars), tuple(ordered), where, size)
        )
    sources = {term.src for term in operation.terms}
    near = max(known.facts.sizes.values()) * len(known.facts.sizes) < 65536
    one_base = known.input not in sources or len(sources) == 1
    if near and one_base and any(group.steps for group in loose):
        cost = interleaved_loop_cost(loose, machine) + last * len(scalars) * machine.straight_result
        found.append(
            PlannedOp(
                operation, "interleaved loop", wanted, cost, tuple(scalars), tuple(loose), positions, size
            )
        )
    return found


def _recurrent(operation: Recurrent, wanted: Mask, program: Program, machine: Machine) -> PlannedOp:
    gates, units = operation.gates, operation.hidden
    rows = np.tile(live_units(operation, wanted), 4)
    if sum(len(term) for term in gates.terms) > UNROLLED_STEP_LIMIT:
        return PlannedOp(operation, "scan", rows, scan_cost(gates, machine) * operation.steps)
    sizes = {**program.sizes, "hidden": units, gates.dst: 4 * units}
    moving = {name: np.zeros(size, bool) for name, size in sizes.items()}
    facts = Facts(sizes, moving, {name: np.zeros(size, np.float32) for name, size in sizes.items()})
    statements = tuple(straight(gates, rows, facts))
    cost = straight_cost(list(statements), machine) * operation.steps
    return PlannedOp(operation, "straight", rows, cost, statements)
