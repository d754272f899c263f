"""Constant folding (forwards through the program) and removal of what is dead (backwards)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bandstop.deploy.ir.program import Affine, Floats, Mask, Operation, Program, Recurrent, Term, activate

__all__ = ["constants", "live_units", "liveness", "simplify"]


def constants(program: Program) -> tuple[dict[str, Mask], dict[str, Floats]]:
    """For every tensor: which elements never depend on the input, and the values of those."""
    fixed = {program.input: np.zeros(program.sizes[program.input], bool)}
    values = {program.input: np.zeros(program.sizes[program.input], np.float32)}
    for operation in program.operations:
        size = program.sizes[operation.dst]
        if isinstance(operation, Recurrent):
            fixed[operation.dst], values[operation.dst] = np.zeros(size, bool), np.zeros(size, np.float32)
            continue
        moving, total = np.zeros(size, bool), operation.bias.copy()
        for term in operation.terms:
            to, source = term.destinations().ravel(), term.sources().ravel()
            still = fixed[term.src][source]
            moving[to[~still]] = True
            weights = np.repeat(term.weights, term.width)
            np.add.at(total, to[still], weights[still] * values[term.src][source[still]])
        fixed[operation.dst] = ~moving
        values[operation.dst] = activate(operation.activation, total)
    return fixed, values


def liveness(program: Program) -> dict[str, Mask]:
    """For every tensor: which elements some output depends on."""
    live = {name: np.zeros(size, bool) for name, size in program.sizes.items()}
    live[program.output][: program.classes] = True
    for operation in reversed(program.operations):
        if isinstance(operation, Recurrent):
            needed = live_units(operation, live[operation.dst])
            rows = np.tile(needed, 4)
            term = operation.gates.terms[0]
            read = np.unique(term.columns[rows[term.rows]])
            steps = np.arange(operation.steps) * operation.src_advance
            live[operation.src][(read[:, None] + steps).ravel()] = True
            continue
        for term in operation.terms:
            wanted = live[operation.dst][term.destinations()]
            live[term.src][term.sources()[wanted]] = True
    return live


def live_units(operation: Recurrent, live: Mask) -> Mask:
    """Hidden units that are read by what follows, or by a unit that is."""
    units = operation.hidden
    needed: Mask = np.asarray(live.reshape(-1, units).any(axis=0))
    recur = operation.gates.terms[1]
    while True:
        more = needed.copy()
        more[recur.columns[needed[recur.rows % units]]] = True
        if (more == needed).all():
            return needed
        needed = more


def simplify(program: Program, *, compact: bool = False) -> Program:
    """Fold constants into the biases they feed and drop all that no output depends on, until nothing changes.

    ``compact`` folds only where every one of an entry's connections adds the same, so that biases stay
    shared.
    """
    while True:
        smaller = _drop_dead(_fold_constants(program, compact=compact))
        if smaller.entries == program.entries and len(smaller.operations) == len(program.operations):
            return smaller
        program = smaller


def _fold_constants(program: Program, *, compact: bool) -> Program:
    fixed, values = constants(program)
    folded = []
    for operation in program.operations:
        if isinstance(operation, Affine):
            bias, terms = operation.bias.astype(np.float64), []
            for term in operation.terms:
                still = np.asarray(fixed[term.src][term.sources()].all(axis=1))
                adds = term.weights[still, None] * values[term.src][term.sources()[still]]
                if compact:
                    alike = (adds == adds[:, :1]).all(axis=1)
                    still[np.flatnonzero(still)[~alike]] = False
                    adds = adds[alike]
                np.add.at(bias, term.destinations()[still].ravel(), adds.ravel())
                terms.append(term.keep(~still))
            operation = replace(operation, terms=_filled(terms), bias=bias.astype(np.float32))
        folded.append(operation)
    return replace(program, operations=tuple(folded))


def _drop_dead(program: Program) -> Program:
    live = liveness(program)
    kept: list[Operation] = []
    for operation in program.operations:
        if isinstance(operation, Recurrent):
            rows = np.tile(live_units(operation, live[operation.dst]), 4)
            gates = operation.gates
            terms = tuple(term.keep(rows[term.rows]) for term in gates.terms)
            bias = np.where(rows, gates.bias, np.float32(0))
            kept.append(replace(operation, gates=replace(gates, terms=terms, bias=bias)))
        elif live[operation.dst].any():
            wanted = live[operation.dst]
            parts = [t.keep(np.asarray(wanted[t.destinations()].any(axis=1))) for t in operation.terms]
            kept.append(replace(operation, terms=_filled(parts)))
    used = {program.input} | {operation.dst for operation in kept}
    sizes = {name: size for name, size in program.sizes.items() if name in used}
    return replace(program, operations=tuple(kept), sizes=sizes)


def _filled(terms: list[Term]) -> tuple[Term, ...]:
    return tuple(term for term in terms if len(term))
