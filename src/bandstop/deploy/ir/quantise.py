"""Fixed point: 16-bit values, 8- or 16-bit weights, scales that are powers of two, sums that cannot overflow.

A tensor's value x is stored as ``q = x · 2^e`` with one exponent per tensor, found on calibration inputs
with a margin. A row's weights are stored as ``w · 2^f`` with the largest f for which they fit and for which
the worst possible sum stays below 2³¹ (8-bit weights, 32-bit sums) or 2⁶³ (16-bit weights, 64-bit sums).
The sum has exponent ``e + f``; a rounding shift brings it to the destination's exponent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.ir.delta_tables import DeltaTable, delta_tables, flattened
from bandstop.deploy.ir.program import Affine, Floats, Ints, Mask, Program, Recurrent
from bandstop.deploy.ir.simplify import liveness
from bandstop.errors import ExportError

__all__ = ["TOP", "FixedLayer", "FixedProgram", "quantise", "sum_bits"]

TOP = 32767
"""The largest 16-bit value."""
MARGIN = 1.5
"""Room above the largest value met on the calibration inputs."""


@dataclass(frozen=True)
class FixedLayer:
    """One operation: tables of offsets, whole-number weights, per row a bias and a shift."""

    dst: str
    table: DeltaTable
    weights: Ints
    bias: Ints
    shifts: Ints
    relu: bool
    fill: bool

    def run(self, source: Ints, size: int) -> Ints:
        """The same sums as the C, on ``[N, size]`` whole numbers."""
        table, out = self.table, np.zeros((len(source), size), np.int64)
        start = np.concatenate([[0], np.cumsum(table.counts)])
        for row, offset in enumerate(table.rows):
            taken = slice(start[row], start[row + 1])
            columns = np.cumsum(table.distances[taken]) * table.unit
            for p in range(table.width):
                total = source[:, columns + p * table.src_step] @ self.weights[taken] + self.bias[row]
                shift = int(self.shifts[row])
                moved = (total + ((1 << shift) >> 1)) >> shift
                low = 0 if self.relu else -TOP
                out[:, offset + p * table.dst_step] = np.clip(moved, low, TOP)
        return out


@dataclass(frozen=True)
class FixedProgram:
    """Layers in order and the exponent of every tensor."""

    program: Program
    layers: tuple[FixedLayer, ...]
    exponents: dict[str, int]
    bits: int

    def __call__(self, inputs: NDArray[np.floating]) -> Floats:
        """Scores by whole-number arithmetic: the reference for the C."""
        scale = 2.0 ** self.exponents[self.program.input]
        signal = self.program.laid_out(inputs).astype(np.float64) * scale
        values = {self.program.input: _away(np.clip(signal, -TOP, TOP)).astype(np.int64)}
        for layer in self.layers:
            values[layer.dst] = layer.run(values[layer.table.src], self.program.sizes[layer.dst])
        out = values[self.program.output] * 2.0 ** -self.exponents[self.program.output]
        return out.astype(np.float32)


def sum_bits(bits: int) -> int:
    """Width of the sums: with 32 bits, long rows of 16-bit weights would lose what those are for.

    >>> sum_bits(8), sum_bits(16)
    (32, 64)
    """
    return 32 if bits == 8 else 64


def _away(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rounded with halves away from zero, as the C does it."""
    return np.trunc(values + np.copysign(0.5, values))


def quantise(program: Program, inputs: NDArray[np.floating], *, bits: int) -> FixedProgram:
    """Fixed-point form of ``program``, scaled on calibration ``inputs``."""
    values = program.tensors(inputs)
    exponents = {name: _exponent(float(np.abs(v).max(initial=0.0)) * MARGIN) for name, v in values.items()}
    live = liveness(program)
    layers = []
    for operation in program.operations:
        if isinstance(operation, Recurrent) or operation.activation not in ("none", "relu"):
            kind = "LSTM" if isinstance(operation, Recurrent) else operation.activation
            raise ExportError(
                f"fixed point covers sums and relu; {operation.dst} is {kind}: export it in float32"
            )
        layer, exponents[operation.dst] = _layer(operation, live[operation.dst], exponents, bits)
        layers.append(layer)
    return FixedProgram(program, tuple(layers), exponents, bits)


def _exponent(largest: float) -> int:
    """The largest e with ``largest · 2^e`` in 16 bits.

    >>> _exponent(1.0), _exponent(3.0)
    (14, 13)
    """
    return int(np.clip(np.floor(np.log2(TOP / max(largest, 1e-9))), -8, 24))


def _layer(operation: Affine, live: Mask, exponents: dict[str, int], bits: int) -> tuple[FixedLayer, int]:
    if len({term.src for term in operation.terms}) > 1:
        raise ExportError(
            f"fixed point needs one source per sum; {operation.dst} has several: export it in float32"
        )
    if not operation.terms:
        raise ExportError(
            "the network's answer does not depend on its input; nothing to export in fixed point"
        )
    tables, fill = delta_tables(operation, live)
    if len(tables) != 1 or (fill is not None and fill.any()):
        tables, fill = delta_tables(flattened(operation), live)
    table = tables[0]
    source = exponents[table.src]
    start = np.concatenate([[0], np.cumsum(table.counts)])
    bias = np.zeros(len(table.rows)) if table.bias is None else table.bias.astype(np.float64)
    powers = np.zeros(len(table.rows), np.int64)
    for row in range(len(table.rows)):
        powers[row] = _power(
            table.weights[start[row] : start[row + 1]].astype(np.float64), bias[row], source, bits
        )
    wanted = min(exponents[operation.dst], int((powers + source).min()))
    shifts = np.minimum(powers + source - wanted, sum_bits(bits) - 2)
    powers = shifts + wanted - source
    weights = np.rint(table.weights * 2.0 ** np.repeat(powers, table.counts)).astype(np.int64)
    whole = np.rint(bias * 2.0 ** (powers + source)).astype(np.int64)
    return FixedLayer(
        operation.dst, table, weights, whole, shifts, operation.activation == "relu", fill is not None
    ), wanted


def _power(weights: NDArray[np.float64], bias: float, source: int, bits: int) -> int:
    """The largest f for which every weight fits and the worst sum plus a rounding half stays in range."""
    most, worst = (127 if bits == 8 else TOP), 0.7 * 2.0 ** (sum_bits(bits) - 1)
    largest, total = np.abs(weights).max(initial=0.0), np.abs(weights).sum()
    limits = [20.0]
    if largest > 0:
        limits += [np.log2(most / largest), np.log2(worst / (total * (TOP + 1) + abs(bias) * 2.0**source))]
    elif bias:
        limits.append(np.log2(worst / (abs(bias) * 2.0**source)))
    return int(np.floor(min(limits) - 1e-9))
