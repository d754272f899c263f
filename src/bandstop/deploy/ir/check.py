"""A program is verified between passes; what is wrong with it is said in one sentence."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.ir.program import ACTIVATIONS, Affine, Ints, Program, Recurrent, Term
from bandstop.errors import ExportError

__all__ = ["check"]


def check(program: Program, *, after: str = "lowering") -> Program:
    """The program itself, if it is well formed.

    Otherwise an `ExportError` that names the operation and the rule.

    Every tensor is written once and before it is read, all indices lie inside their tensors, all constants
    are finite, and the output has a value for every class. ``after``: the pass that made the program.

    >>> one = np.zeros(1, np.int64)
    >>> good = Affine("scores", (Term("signal", one, one, np.ones(1, np.float32)),), np.zeros(1, np.float32))
    >>> check(Program((good,), {"signal": 1, "scores": 1}, one, 1)).macs
    1
    >>> check(Program((good, good), {"signal": 1, "scores": 1}, one, 1))
    Traceback (most recent call last):
    bandstop.errors.ExportError: after lowering the program is broken: scores is written twice
    """
    try:
        _sizes(program)
        written = {program.input}
        for operation in program.operations:
            if operation.dst in written:
                raise _BrokenError(f"{operation.dst} is written twice")
            if operation.dst not in program.sizes:
                raise _BrokenError(f"{operation.dst} has no size")
            if isinstance(operation, Recurrent):
                _recurrent(operation, program.sizes, written)
            else:
                _affine(operation, program.sizes, written)
            written.add(operation.dst)
        if program.output not in written:
            raise _BrokenError(f"the output {program.output} is never written")
    except _BrokenError as problem:
        raise ExportError(f"after {after} the program is broken: {problem}") from None
    return program


class _BrokenError(Exception):
    """A rule that the program breaks."""


def _sizes(program: Program) -> None:
    for name, size in program.sizes.items():
        if size < 1:
            raise _BrokenError(f"{name} has a size of {size}; a tensor has at least one element")
    if program.input not in program.sizes:
        raise _BrokenError(f"the input {program.input} has no size")
    read = program.input_index[program.input_index != -1]
    _inside("the network's input", read, program.sizes[program.input], program.input)
    if len(np.unique(read)) != len(read):
        raise _BrokenError(f"two values of the network's input lie at one element of {program.input}")
    if not 1 <= program.classes <= program.sizes.get(program.output, 0):
        raise _BrokenError(
            f"{program.classes} classes do not fit the {program.sizes.get(program.output, 0)} "
            f"elements of {program.output}"
        )


def _affine(operation: Affine, sizes: dict[str, int], written: set[str]) -> None:
    name, size = operation.dst, sizes[operation.dst]
    _constants(operation, size)
    for term in operation.terms:
        if term.src not in written:
            raise _BrokenError(f"{name} reads {term.src} before it is written")
        _term(name, term, size, sizes[term.src])


def _constants(operation: Affine, size: int) -> None:
    if operation.activation not in ACTIVATIONS:
        raise _BrokenError(f"{operation.dst} has the unknown activation {operation.activation!r}")
    if operation.bias.shape != (size,):
        raise _BrokenError(
            f"{operation.dst} has {size} elements and a bias of shape {list(operation.bias.shape)}"
        )
    if not np.isfinite(operation.bias).all():
        raise _BrokenError(f"the bias of {operation.dst} is not finite")


def _term(name: str, term: Term, size: int, source_size: int) -> None:
    if not len(term.rows) == len(term.columns) == len(term.weights):
        raise _BrokenError(
            f"{name} has {len(term.rows)} rows, {len(term.columns)} columns and {len(term.weights)} weights "
            f"from {term.src}; each entry has one of each"
        )
    if term.width < 1:
        raise _BrokenError(
            f"{name} has entries of width {term.width} from {term.src}; an entry has at least one"
        )
    if not np.isfinite(term.weights).all():
        raise _BrokenError(f"a weight of {name} from {term.src} is not finite")
    if len(term):
        _inside(
            f"an entry of {name} from {term.src}", _ends(term.rows, term.width, term.dst_step), size, name
        )
        _inside(f"an entry of {name}", _ends(term.columns, term.width, term.src_step), source_size, term.src)


def _recurrent(operation: Recurrent, sizes: dict[str, int], written: set[str]) -> None:
    name, units, gates = operation.dst, operation.hidden, operation.gates
    if units < 1 or operation.steps < 1:
        raise _BrokenError(
            f"{name} has {units} hidden units and {operation.steps} steps; both are at least 1"
        )
    if sizes[name] != units * (operation.steps if operation.sequence else 1):
        raise _BrokenError(f"{name} has {sizes[name]} elements, which are not its hidden states")
    if operation.src not in written:
        raise _BrokenError(f"{name} reads {operation.src} before it is written")
    if [term.src for term in gates.terms] != [operation.src, "hidden"]:
        raise _BrokenError(f"the gates of {name} must read {operation.src} and then hidden")
    _constants(gates, 4 * units)
    reach = sizes[operation.src] - (operation.steps - 1) * operation.src_advance
    for term, size in zip(gates.terms, (reach, units), strict=True):
        _term(name, term, 4 * units, size)


def _ends(first: Ints, width: int, step: int) -> Ints:
    """First and last index of every entry's connections."""
    return np.concatenate([first, first + (width - 1) * step])


def _inside(what: str, index: Ints, size: int, tensor: str) -> None:
    if len(index) and (index.min() < 0 or index.max() >= size):
        bad = int(index.min() if index.min() < 0 else index.max())
        raise _BrokenError(f"{what} lies at element {bad} of {tensor}, which has {max(size, 0)} within reach")
