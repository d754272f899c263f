"""How each operation of a program is written for speed, and what must be computed for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import nn

from bandstop.deploy.cost import (
    LANES,
    block_cost,
    dense_row_cost,
    row_cost,
    rows_possible,
    scan_cost,
    turned_cost,
    turned_possible,
)
from bandstop.deploy.head_orders import cheapest_orders
from bandstop.deploy.lower import lower
from bandstop.deploy.lower_gcn import Order
from bandstop.deploy.program import Affine, Operation, Program, Recurrent
from bandstop.deploy.simplify import Mask, constants, live_units, liveness
from bandstop.deploy.straight import Facts, Statement, straight, straight_cost, straight_reads
from bandstop.nets.gcn import GCN

__all__ = ["Kind", "Schedule", "Step", "lower_for_speed", "schedule"]

Kind = Literal["straight", "rows", "dense rows", "blocks", "turned", "scan"]
UNROLLED_STEP_LIMIT = 1500


@dataclass(frozen=True)
class Step:
    """An operation, how it is written, which results are needed, and its statements where it is straight-line code."""

    operation: Operation
    kind: Kind
    live: Mask
    statements: tuple[Statement, ...]
    cost: float


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
    joints, heads = net.graph.adjacency.shape[1], net.graph.adjacency.shape[0]
    pitch = -(-joints // LANES) * LANES
    plain: tuple[Order, ...] = tuple("nodes" for _ in range(heads))
    choices = {plain, cheapest_orders(net)}
    return min((schedule(lower(net, example, pitch=pitch, orders=o)) for o in choices), key=lambda s: s.cost)


def schedule(program: Program) -> Schedule:
    """Choose from the last operation to the first: what a later one reads decides what an earlier one computes."""
    fixed, values = constants(program)
    facts = Facts(program.sizes, fixed, values)
    live = {name: np.zeros(size, bool) for name, size in program.sizes.items()}
    live[program.output][: program.classes] = True
    all_live = liveness(program)
    steps = []
    for operation in reversed(program.operations):
        wanted = live[operation.dst]
        if isinstance(operation, Recurrent):
            step = _recurrent(operation, wanted, program)
            live[operation.src] |= all_live[operation.src]
        else:
            step = _affine(operation, wanted, facts)
            _mark(step, operation, live)
        steps.append(step)
    return Schedule(program, tuple(reversed(steps)))


def _mark(step: Step, operation: Affine, live: dict[str, Mask]) -> None:
    if step.kind == "straight":
        for src, columns in straight_reads(list(step.statements)):
            live[src][columns] = True
        return
    for term in operation.terms:
        live[term.src][term.sources().ravel()] = True


def _affine(operation: Affine, wanted: Mask, facts: Facts) -> Step:
    connections = sum(len(t) * t.width for t in operation.terms)
    options: list[tuple[float, Kind, tuple[Statement, ...]]] = [(scan_cost(operation), "scan", ())]
    if connections < 60_000:
        statements = tuple(straight(operation, wanted, facts))
        options.append((straight_cost(list(statements)), "straight", statements))
    if len(operation.terms) == 1:
        term = operation.terms[0]
        options.append((block_cost(term), "blocks", ()))
        if rows_possible(operation, facts.sizes):
            options.append((row_cost(term), "rows", ()))
            options.append((dense_row_cost(term), "dense rows", ()))
        if turned_possible(operation, facts.sizes):
            options.append((turned_cost(term), "turned", ()))
    cost, kind, chosen = min(options, key=lambda option: option[0])
    return Step(operation, kind, wanted, chosen, cost)


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
