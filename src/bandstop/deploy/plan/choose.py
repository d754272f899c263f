"""How each operation of a program is written for speed, what must be computed for that, and where results lie."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bandstop.deploy.c.turned import turned_positions
from bandstop.deploy.ir.program import Affine, Operation, Program, Recurrent
from bandstop.deploy.ir.simplify import Mask, constants, live_units, liveness
from bandstop.deploy.lower import lower
from bandstop.deploy.lower.head_orders import likely_orders
from bandstop.deploy.plan.cost import (
    LANES,
    MACHINE,
    block_cost,
    dense_row_cost,
    row_cost,
    rows_possible,
    scan_cost,
    turned_cost,
    turned_possible,
)
from bandstop.deploy.plan.interleave import positions, weave, woven_bytes, woven_cost, woven_loop_cost
from bandstop.deploy.plan.straight import (
    Facts,
    Statement,
    code_bytes,
    scalar_statements,
    straight,
    straight_cost,
    straight_reads,
)
from bandstop.nets.gcn import GCN

__all__ = ["Kind", "Schedule", "Step", "lower_for_speed", "schedule"]

Kind = Literal[
    "straight", "woven", "woven loop", "rows", "dense rows", "blocks", "turned", "left turned", "scan"
]
BY_ELEMENT = ("woven", "woven loop")
UNROLLED_STEP_LIMIT = 1500
MOST_STATEMENTS = 60_000


@dataclass(frozen=True)
class Step:
    """An operation, how it is written, which results are needed, its statements where they are written out one by one.

    ``place`` says where each result lies if not in order; ``room`` how many values its tensor takes then.
    """

    operation: Operation
    kind: Kind
    live: Mask
    statements: tuple[Statement, ...]
    cost: float
    place: NDArray[np.int64] | None = None
    room: int = 0


@dataclass(frozen=True)
class Schedule:
    """The steps of a program in order, and their summed cost by the model."""

    program: Program
    steps: tuple[Step, ...]

    @property
    def cost(self) -> float:
        return sum(step.cost for step in self.steps)

    def __str__(self) -> str:
        return "\n".join(f"{s.operation.dst}: {s.kind}, {s.cost:.0f} ns by the model" for s in self.steps)


def lower_for_speed(net: nn.Module, example: torch.Tensor) -> Schedule:
    """The cheapest schedule by the cost model over the ways of lowering ``net``."""
    if not isinstance(net, GCN):
        return schedule(lower(net, example))
    pitch = -(-net.graph.adjacency.shape[1] // LANES) * LANES
    programs = [lower(net, example, pitch=pitch, orders=orders) for orders in likely_orders(net)]
    # Woven features let the mixed joints stay turned: choosing one operation at a time would not see that.
    plans = (schedule(p, woven=names) for p in programs for names in (frozenset[str](), {"features"}))
    return min(plans, key=lambda s: s.cost)


@dataclass
class _Known:
    """What the later operations, already chosen, ask of the earlier ones."""

    facts: Facts
    input: str
    output: str
    live: dict[str, Mask]
    by_element: dict[str, bool]
    code: float


def schedule(program: Program, *, woven: Set[str] = frozenset()) -> Schedule:
    """Choose from the last operation to the first: what a later one reads decides what an earlier one computes.

    Those named in ``woven`` are woven if they can be.
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
        MACHINE.code_limit,
    )
    all_live = liveness(program)
    steps = []
    for operation in reversed(program.operations):
        wanted = live[operation.dst]
        if isinstance(operation, Recurrent):
            step = _recurrent(operation, wanted, program)
            live[operation.src] |= all_live[operation.src]
            known.by_element[operation.src] = False
        else:
            step = _affine(operation, wanted, known, woven=operation.dst in woven)
            _mark(step, operation, known)
        steps.append(step)
    return Schedule(program, tuple(reversed(steps)))


def _mark(step: Step, operation: Affine, known: _Known) -> None:
    single = step.kind in BY_ELEMENT or (
        step.kind == "straight" and all(s.lanes == 1 for s in step.statements)
    )
    for term in operation.terms:
        known.by_element[term.src] &= single
    if step.statements:
        for src, columns in straight_reads(list(step.statements)):
            known.live[src][columns] = True
        return
    for term in operation.terms:
        known.live[term.src][term.sources().ravel()] = True


def _affine(operation: Affine, wanted: Mask, known: _Known, *, woven: bool) -> Step:
    sizes = known.facts.sizes
    options: list[Step] = [Step(operation, "scan", wanted, (), scan_cost(operation))]
    if sum(len(t) * t.width for t in operation.terms) < MOST_STATEMENTS:
        options += _written_out(operation, wanted, known)
    if len(operation.terms) == 1:
        term = operation.terms[0]
        options.append(Step(operation, "blocks", wanted, (), block_cost(term)))
        if rows_possible(operation, sizes):
            options.append(Step(operation, "rows", wanted, (), row_cost(term)))
            options.append(Step(operation, "dense rows", wanted, (), dense_row_cost(term)))
        if turned_possible(operation, sizes):
            options.append(Step(operation, "turned", wanted, (), turned_cost(term, back=True)))
            if known.by_element[operation.dst]:
                place = turned_positions(len(operation.bias), term.dst_step, term.width)
                cost = turned_cost(term, back=False)
                options.append(Step(operation, "left turned", wanted, (), cost, place, len(place)))
    by_element = [option for option in options if option.kind in BY_ELEMENT]
    chosen = min(by_element if woven and by_element else options, key=lambda option: option.cost)
    known.code -= code_bytes(list(chosen.statements)) if chosen.kind == "straight" else 0
    known.code -= woven_bytes(list(chosen.statements)) if chosen.kind == "woven" else 0
    return chosen


def _written_out(operation: Affine, wanted: Mask, known: _Known) -> list[Step]:
    """Straight-line code, and woven results where their order is free (or that of the scores)."""
    statements = straight(operation, wanted, known.facts)
    found = []
    if code_bytes(statements) <= known.code:
        found.append(Step(operation, "straight", wanted, tuple(statements), straight_cost(statements)))
    last = operation.dst == known.output
    if known.by_element[operation.dst] or last:
        scalars = scalar_statements(operation, wanted, known.facts)
        groups = weave(scalars, ordered=last)
        place = positions(scalars, len(wanted), ordered=last)
        room = len(groups) * LANES
        sources = {term.src for term in operation.terms}
        near = max(known.facts.sizes.values()) * len(known.facts.sizes) < 65536
        one_base = known.input not in sources or len(sources) == 1
        ways: list[tuple[Kind, float]] = []
        if woven_bytes(scalars) <= known.code:
            ways.append(("woven", woven_cost(groups)))
        if near and one_base and any(group.steps for group in groups):
            loose = weave(scalars, ordered=False)
            ways.append(
                ("woven loop", woven_loop_cost(loose) + last * len(scalars) * MACHINE.straight_result)
            )
        order = None if last else place
        found += [Step(operation, kind, wanted, tuple(scalars), cost, order, room) for kind, cost in ways]
    return found


def _recurrent(operation: Recurrent, wanted: Mask, program: Program) -> Step:
    gates, units = operation.gates, operation.hidden
    rows = np.tile(live_units(operation, wanted), 4)
    sizes = {**program.sizes, "hidden": units, gates.dst: 4 * units}
    moving = {name: np.zeros(size, bool) for name, size in sizes.items()}
    facts = Facts(sizes, moving, {name: np.zeros(size, np.float32) for name, size in sizes.items()})
    statements = tuple(straight(gates, rows, facts))
    small = sum(len(term) for term in gates.terms) <= UNROLLED_STEP_LIMIT
    each = straight_cost(list(statements)) if small else scan_cost(gates)
    return Step(
        operation, "straight" if small else "scan", rows, statements if small else (), each * operation.steps
    )
