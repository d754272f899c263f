"""ONNX nodes of convolutions over time."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.lower.batchnorm import array
from bandstop.deploy.onnx.graph import Graph
from bandstop.nets.tcn import TCN, TimeConv

__all__ = ["add_tcn"]


def add_tcn(graph: Graph, net: TCN, shape: tuple[int, ...]) -> str:
    """Add the folded network; the name of its scores."""
    joints, values = shape
    own, shared = len(net.own), len(net.shared)
    split = [0, joints, net.chunks, values // net.chunks]
    poses = graph.node("Reshape", ["input", graph.integers("split", split)])
    swapped = graph.node("Transpose", [poses], perm=[0, 1, 3, 2])
    wide = [0, joints * own, net.chunks]
    kept = swapped
    if shared:
        kept = graph.node("Gather", [swapped, graph.integers("own", list(net.own))], axis=2)
    last = graph.node("Reshape", [kept, graph.integers("channels", wide)])
    if shared:
        once = graph.node("Gather", [swapped, graph.integers("shared", list(net.shared))], axis=2)
        one = graph.node("Gather", [once, graph.integers("first_joint", [0])], axis=1)
        alone = graph.integers("alone", [0, shared, net.chunks])
        last = graph.node("Concat", [last, graph.node("Reshape", [one, alone])], axis=1)
    for number, block in enumerate(net.blocks):
        assert isinstance(block, TimeConv)
        weight = graph.weight(f"time{number + 1}", array(block.conv.weight))
        offset = graph.weight(f"time{number + 1}_offset", array(block.conv_norm.bias))
        moved = graph.node("Conv", [last, weight, offset], strides=list(block.conv.stride))
        last = graph.node("Relu", [moved])
    pooled = graph.node("Flatten", [graph.node("GlobalAveragePool", [last])], axis=1)
    classifier = graph.weight("classifier", np.ascontiguousarray(array(net.classifier.weight).T))
    return graph.node("Gemm", [pooled, classifier, graph.weight("class_offset", array(net.classifier.bias))])
