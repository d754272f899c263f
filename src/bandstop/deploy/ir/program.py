"""The sparse program: a short list of operations on named flat tensors, every connection written out.

An `Affine` is ``dst = f(bias + Σ_terms Σ_entries w · src)``. One entry of a term stands for ``width``
connections that share their weight (a filter shared by all joints, a tap of a convolution): for ``p = 0 …
width − 1`` it adds ``w · src[column + p·src_step]`` to ``dst[row + p·dst_step]``. A `Recurrent` is one LSTM
layer around such a sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ACTIVATIONS",
    "LEAK",
    "Activation",
    "Affine",
    "Floats",
    "Ints",
    "Mask",
    "Operation",
    "Program",
    "Recurrent",
    "Term",
    "activate",
    "affine_values",
]

Activation = Literal["none", "relu", "leaky", "tanh", "sigmoid"]
ACTIVATIONS: tuple[Activation, ...] = get_args(Activation)
"""In this order their numbers are the codes by which the emitted loops know them."""
Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
LEAK = 0.01


@dataclass(frozen=True)
class Term:
    """Weighted connections from one tensor.

    Arrays ``rows``, ``columns`` and ``weights`` have one value per entry.
    """

    src: str
    rows: Ints
    columns: Ints
    weights: Floats
    width: int = 1
    dst_step: int = 1
    src_step: int = 1

    def __len__(self) -> int:
        return len(self.weights)

    def keep(self, mask: Mask) -> Term:
        """The same term with only the entries of ``mask``."""
        return replace(self, rows=self.rows[mask], columns=self.columns[mask], weights=self.weights[mask])

    def destinations(self) -> Ints:
        """Index in the destination of every connection, ``[entries, width]``."""
        return self.rows[:, None] + np.arange(self.width) * self.dst_step

    def sources(self) -> Ints:
        """Index in the source of every connection, ``[entries, width]``."""
        return self.columns[:, None] + np.arange(self.width) * self.src_step


@dataclass(frozen=True)
class Affine:
    """``dst = activation(bias + terms)``; ``bias`` has one value per element of ``dst``."""

    dst: str
    terms: tuple[Term, ...]
    bias: Floats
    activation: Activation = "none"


@dataclass(frozen=True)
class Recurrent:
    """One LSTM layer: ``steps`` times ``gates`` (input, forget, cell, output.

    ``4·hidden``) from input and state.

    The first term of ``gates`` reads ``src`` moved on by ``src_advance`` values per step, the second the
    hidden state. ``dst`` holds every step's hidden state (``sequence``) or only the last one's.
    """

    dst: str
    src: str
    gates: Affine
    hidden: int
    steps: int
    src_advance: int
    sequence: bool


Operation = Affine | Recurrent


@dataclass(frozen=True)
class Program:
    """Operations in order, the size of every tensor, and where the network's inputs lie in ``signal``."""

    operations: tuple[Operation, ...]
    sizes: dict[str, int]
    input_index: Ints
    """−1: an input that the program does not read."""
    classes: int
    input: str = "signal"
    output: str = "scores"

    def laid_out(self, inputs: NDArray[np.floating]) -> Floats:
        """Network inputs ``[N, …]`` laid out as the program reads them, ``[N, size of signal]``."""
        flat = np.asarray(inputs, dtype=np.float32).reshape(len(inputs), -1)
        signal = np.zeros((len(flat), self.sizes[self.input]), dtype=np.float32)
        read = self.input_index >= 0
        signal[:, self.input_index[read]] = flat[:, read]
        return signal

    def tensors(self, inputs: NDArray[np.floating]) -> dict[str, Floats]:
        """Every tensor's values for network inputs ``[N, …]``: the reference for the emitters."""
        values = {self.input: self.laid_out(inputs)}
        for operation in self.operations:
            if isinstance(operation, Affine):
                values[operation.dst] = affine_values(operation, values)
            else:
                values[operation.dst] = _recurrent_values(operation, values[operation.src])
        return values

    def __call__(self, inputs: NDArray[np.floating]) -> Floats:
        return self.tensors(inputs)[self.output][:, : self.classes]

    @property
    def entries(self) -> int:
        """Stored weights."""
        return sum(len(term) for affine in self.affines for term in affine.terms)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one inference, as written."""
        total = 0
        for operation in self.operations:
            affine = operation if isinstance(operation, Affine) else operation.gates
            steps = 1 if isinstance(operation, Affine) else operation.steps
            total += steps * sum(len(term) * term.width for term in affine.terms)
        return total

    @property
    def affines(self) -> tuple[Affine, ...]:
        return tuple(o if isinstance(o, Affine) else o.gates for o in self.operations)

    def __str__(self) -> str:
        lines = [f"{self.input}[{self.sizes[self.input]}]"]
        for operation in self.operations:
            affine = operation if isinstance(operation, Affine) else operation.gates
            sums = " + ".join(
                f"{len(t)} weights · {t.src}" + (f" x {t.width}" if t.width > 1 else "") for t in affine.terms
            )
            shape = f"{operation.dst}[{self.sizes[operation.dst]}]"
            if isinstance(operation, Affine):
                lines.append(f"{shape} = {affine.activation}(bias + {sums or '0'})")
            else:
                lines.append(
                    f"{shape} = lstm({operation.steps} steps, {operation.hidden} units: bias + {sums})"
                )
        return "\n".join(lines)


def activate(name: Activation, values: Floats) -> Floats:
    """Apply an activation.

    >>> activate("relu", np.array([-1.0, 2.0], dtype=np.float32)).tolist()
    [0.0, 2.0]
    """
    if name == "relu":
        values = np.maximum(values, np.float32(0))
    if name == "leaky":
        values = np.where(values > 0, values, values * np.float32(LEAK)).astype(np.float32)
    if name == "tanh":
        values = np.tanh(values)
    if name == "sigmoid":
        values = (0.5 * (1 + np.tanh(0.5 * values))).astype(np.float32)
    return values


def affine_values(operation: Affine, values: dict[str, Floats]) -> Floats:
    """Values ``[N, size]`` of an affine operation's destination."""
    batch = len(next(iter(values.values())))
    total = np.repeat(operation.bias[None], batch, axis=0)
    for term in operation.terms:
        source = values[term.src]
        used, inverse = np.unique(term.sources().ravel(), return_inverse=True)
        dense = np.zeros((len(used), total.shape[1]), dtype=np.float32)
        np.add.at(dense, (inverse, term.destinations().ravel()), np.repeat(term.weights, term.width))
        total += source[:, used] @ dense
    return activate(operation.activation, total)


def _recurrent_values(operation: Recurrent, source: Floats) -> Floats:
    units = operation.hidden
    hidden = np.zeros((len(source), units), dtype=np.float32)
    cell, history = hidden.copy(), []
    for step in range(operation.steps):
        moved = source[:, step * operation.src_advance :]
        gates = affine_values(operation.gates, {operation.src: moved, "hidden": hidden})
        enter, forget, update, leave = (gates[:, i * units : (i + 1) * units] for i in range(4))
        cell = activate("sigmoid", forget) * cell + activate("sigmoid", enter) * np.tanh(update)
        hidden = activate("sigmoid", leave) * np.tanh(cell)
        history.append(hidden)
    return np.concatenate(history, axis=1) if operation.sequence else hidden
