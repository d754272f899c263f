"""The LSTM recogniser's program: one recurrent operation a layer, then the classifier on the last hidden state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bandstop.deploy.ir.program import Affine, Operation, Program, Recurrent, Term
from bandstop.deploy.lower.folding import array
from bandstop.nets.lstm import LSTMRecogniser

__all__ = ["lower_lstm"]

Floats = NDArray[np.float32]


def lower_lstm(net: LSTMRecogniser, example: Tensor, *, pitch: int | None = None) -> Program:
    """The unsimplified program; value ``(joint v, 3m + axis)`` of the input lies at ``(3m + axis)·pitch + v``."""
    _, joints, signal = example.shape
    pitch, steps, units = pitch or joints, signal // 3, net.lstm.hidden_size
    pose = (np.arange(3)[None, :] * pitch + np.arange(joints)[:, None]).ravel()
    operations: list[Operation] = []
    sizes = {"signal": signal * pitch}
    source, advance = "signal", 3 * pitch
    layers = net.lstm.num_layers
    for layer in range(layers):
        weight, recur = (array(getattr(net.lstm, f"weight_{kind}_l{layer}")) for kind in ("ih", "hh"))
        bias = array(getattr(net.lstm, f"bias_ih_l{layer}") + getattr(net.lstm, f"bias_hh_l{layer}"))
        terms = (_term(source, weight, pose), _term("hidden", recur, np.arange(units)))
        sequence = layer < layers - 1
        name = f"state{layer + 1}"
        operations.append(
            Recurrent(name, source, Affine("gates", terms, bias), units, steps, advance, sequence)
        )
        sizes[name] = units * (steps if sequence else 1)
        source, advance, pose = name, units, np.arange(units)
    classifier = array(net.classifier.weight)
    operations.append(
        Affine("scores", (_term(source, classifier, np.arange(units)),), array(net.classifier.bias))
    )
    sizes["scores"] = len(classifier)
    index = (np.arange(signal)[None, :] * pitch + np.arange(joints)[:, None]).ravel()
    notes: dict[str, object] = {"joints": joints, "pitch": pitch, "signal": signal}
    return Program(tuple(operations), sizes, index, len(classifier), notes=notes)


def _term(src: str, matrix: Floats, place: NDArray[np.int64]) -> Term:
    rows, columns = np.nonzero(matrix)
    return Term(src, rows, place[columns], matrix[rows, columns])
