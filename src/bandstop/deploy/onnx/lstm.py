"""ONNX nodes of the LSTM recogniser."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.ir.program import Floats
from bandstop.deploy.lower.batchnorm import array
from bandstop.deploy.onnx.graph import Graph
from bandstop.nets.lstm import LSTMRecogniser

__all__ = ["add_lstm"]


def add_lstm(graph: Graph, net: LSTMRecogniser, shape: tuple[int, ...]) -> str:
    """Add the network.

    The name of its scores. ONNX orders gates input, output, forget, cell; PyTorch i, f, c, o.
    """
    joints, values = shape
    steps, units = values // 3, net.lstm.hidden_size
    parted = graph.node("Reshape", ["input", graph.integers("parted", [0, joints, steps, 3])])
    timed = graph.node("Transpose", [parted], perm=[2, 0, 1, 3])
    last = graph.node("Reshape", [timed, graph.integers("poses", [steps, -1, joints * 3])])
    for layer in range(net.lstm.num_layers):
        weight, recur, first, second = (
            _reordered(array(getattr(net.lstm, f"{kind}_l{layer}")), units)
            for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        inputs = [
            last,
            graph.weight(f"input{layer}", weight[None]),
            graph.weight(f"recur{layer}", recur[None]),
            graph.weight(f"offset{layer}", np.concatenate([first, second])[None]),
        ]
        final = layer == net.lstm.num_layers - 1
        # The first output has every step, the second the last one; a direction axis goes in both.
        name = graph.node("LSTM", inputs, outputs=2 if final else 1, hidden_size=units)
        last = graph.node("Squeeze", [name, graph.integers(f"direction{layer}", [0 if final else 1])])
    classifier = graph.weight("classifier", np.ascontiguousarray(array(net.classifier.weight).T))
    return graph.node("Gemm", [last, classifier, graph.weight("class_offset", array(net.classifier.bias))])


def _reordered(values: Floats, units: int) -> Floats:
    enter, forget, cell, leave = (values[i * units : (i + 1) * units] for i in range(4))
    return np.concatenate([enter, leave, forget, cell])
