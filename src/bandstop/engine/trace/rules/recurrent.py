"""Surrogates of LSTM, GRU and plain recurrent layers and cells.

Gates are sums ``W_ih x_t + W_hh h_{t−1}``. LSTM: ``c_t`` varies with the gates i, f, g and with ``c_{t−1}``,
``h_t`` with the gate o and with ``c_t``. GRU: ``h_t`` varies with the gates r, z, n and with ``h_{t−1}``.
Plain: ``h_t`` is the one gate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bandstop.engine.trace.kinds import Kind
from bandstop.engine.trace.rules.products import linear
from bandstop.engine.trace.tracer import Rule, Tracer

__all__ = ["RULES"]

_GATES = {"lstm": 4, "gru": 3, "rnn": 1}


def _step(tr: Tracer, cell: str, driven: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
    """``(h_t, c_t)`` from the summed gates; ``memory`` is only used by an LSTM."""
    gates = driven.reshape(*driven.shape[:-1], _GATES[cell], -1)
    if cell == "lstm":
        memory = tr.emit(gates[..., :3, :].sum(-2) + memory, Kind.SIGNAL)
        return tr.emit(memory + gates[..., 3, :], Kind.SIGNAL), memory
    if cell == "gru":
        return tr.emit(gates.sum(-2) + hidden, Kind.SIGNAL), memory
    return tr.emit(gates.squeeze(-2), Kind.SIGNAL), memory


def _layer(
    tr: Tracer,
    cell: str,
    signal: Tensor,
    hidden: Tensor,
    memory: Tensor,
    weights: list[Tensor],
    backwards: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """One direction of one layer over ``[T, B, features]``."""
    driven = linear(tr, signal, weights[0])
    steps = []
    for t in reversed(range(len(signal))) if backwards else range(len(signal)):
        recurrent = linear(tr, tr.keep(hidden, Kind.SIGNAL), weights[1])
        gates = tr.emit(driven[t] + recurrent, Kind.SIGNAL)
        hidden, memory = _step(tr, cell, gates, hidden, memory)
        if len(weights) > 2:  # an LSTM with a projection of its hidden state
            hidden = linear(tr, hidden, weights[2])
        steps.append(hidden)
    states = torch.stack(steps[::-1] if backwards else steps)
    return tr.keep(states, Kind.SIGNAL), hidden, memory


def _split(flat: list[Tensor], biased: bool, projected: bool) -> list[list[Tensor]]:
    """Matrices of each layer and direction out of torch's flat list, biases dropped."""
    each = 2 + 2 * biased + projected
    groups = [flat[i : i + each] for i in range(0, len(flat), each)]
    return [[*group[:2], *(group[-1:] if projected else [])] for group in groups]


def _network(cell: str) -> Rule:
    def rule(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        packed = isinstance(args[1 if cell == "lstm" else 2], Tensor)
        if packed and int(args[1].max()) > 1:
            raise tr.failure("a packed batch of several sequences", "trace with one sequence")
        if packed:
            signal, _, start, flat, biased, layers, _, _, both = args
            signal, first = signal.unsqueeze(1), False
        else:
            signal, start, flat, biased, layers, _, _, both, first = args
        signal = tr.keep(tr.signal(signal.transpose(0, 1) if first else signal), Kind.SIGNAL)
        hidden = tr.signal(start[0] if cell == "lstm" else start)
        memory = tr.signal(start[1]) if cell == "lstm" else hidden
        directions = 2 if both else 1
        groups = _split(list(flat), biased, projected=cell == "lstm" and hidden.shape[-1] != memory.shape[-1])
        ends: list[tuple[Tensor, Tensor]] = []
        for layer in range(layers):
            outputs = []
            for direction in range(directions):
                i = layer * directions + direction
                states, *end = _layer(tr, cell, signal, hidden[i], memory[i], groups[i], direction == 1)
                outputs.append(states)
                ends.append((end[0], end[1]))
            signal = tr.keep(torch.cat(outputs, -1), Kind.SIGNAL)
        last = [tr.keep(torch.stack(side), Kind.SIGNAL) for side in zip(*ends, strict=True)]
        if packed:
            signal = signal.squeeze(1)
        signal = tr.keep(signal.transpose(0, 1) if first else signal, Kind.SIGNAL)
        return (signal, *last) if cell == "lstm" else (signal, last[0])

    return rule


def _cell(cell: str) -> Rule:
    def rule(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        signal, start, *weights = args
        hidden = tr.keep(tr.signal(start[0] if cell == "lstm" else start), Kind.SIGNAL)
        memory = tr.signal(start[1]) if cell == "lstm" else hidden
        signal = tr.keep(tr.signal(signal), Kind.SIGNAL)
        driven = linear(tr, signal, weights[0]) + linear(tr, hidden, weights[1])
        result = _step(tr, cell, tr.emit(driven, Kind.SIGNAL), hidden, memory)
        return result if cell == "lstm" else result[0]

    return rule


RULES: dict[str, Rule] = {
    "lstm": _network("lstm"),
    "gru": _network("gru"),
    "rnn_tanh": _network("rnn"),
    "rnn_relu": _network("rnn"),
    "lstm_cell": _cell("lstm"),
    "gru_cell": _cell("gru"),
    "rnn_tanh_cell": _cell("rnn"),
    "rnn_relu_cell": _cell("rnn"),
}
