"""The LSTM recogniser's program: one recurrent operation per layer, then the classifier."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from bandstop.deploy.ir.program import Affine, Floats, Ints, Operation, Program, Recurrent, Term
from bandstop.deploy.lower.batchnorm import array
from bandstop.deploy.lower.kind import Kind, Variant
from bandstop.nets.lstm import LSTMRecogniser

__all__ = ["LSTM_KIND", "lower_lstm"]


def lower_lstm(net: LSTMRecogniser, example: Tensor, variant: Variant) -> Program:
    """The unsimplified program.

    Value ``(joint v, 3m + axis)`` of the input lies at ``(3m + axis)·pitch + v``.
    """
    _, joints, signal = example.shape
    pitch, steps, units = variant.pitch or joints, signal // 3, net.lstm.hidden_size
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
    return Program(tuple(operations), sizes, index, len(classifier))


def _term(src: str, matrix: Floats, offsets: Ints) -> Term:
    rows, columns = np.nonzero(matrix)
    return Term(src, rows, offsets[columns], matrix[rows, columns])


def _settings(net: LSTMRecogniser) -> dict[str, object]:
    return {"kind": "lstm", "hidden": net.lstm.hidden_size, "layers": net.lstm.num_layers}


LSTM_KIND = Kind("lstm", LSTMRecogniser, lower_lstm, settings=_settings)
