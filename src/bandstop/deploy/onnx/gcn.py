"""ONNX nodes of the graph convolution."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.ir.program import Floats
from bandstop.deploy.lower.batchnorm import array
from bandstop.deploy.onnx.graph import Graph
from bandstop.nets.gcn import GCN

__all__ = ["add_gcn"]


def add_gcn(graph: Graph, net: GCN, shape: tuple[int, ...]) -> str:
    """Add the folded network; the name of its scores."""
    adjacency, filters = array(net.graph.adjacency), array(net.graph.filters)
    heads, joints, _ = adjacency.shape
    _, channels, width = filters.shape
    nodes = _linear(graph, "input", array(net.encoder.weight).T, array(net.encoder_norm.bias), "nodes")
    if net.graph.combine == "concat":
        # [B, 1, V, C] with [K, V, V], then with [K, C, F]: one batched product per side.
        lifted = graph.node("Unsqueeze", [nodes, graph.integers("axis", [1])])
        mixed = graph.node("MatMul", [graph.weight("adjacency", adjacency), lifted])
        summed = graph.node("MatMul", [mixed, graph.weight("filters", filters)])
        swapped = graph.node("Transpose", [summed], perm=[0, 2, 1, 3])
        summed = graph.node("Reshape", [swapped, graph.integers("wide", [0, joints, heads * width])])
    else:
        flat = graph.weight("adjacency", adjacency.reshape(heads * joints, joints))
        mixed = graph.node("MatMul", [flat, nodes])
        split = graph.node("Reshape", [mixed, graph.integers("split", [0, heads, joints, channels])])
        swapped = graph.node("Transpose", [split], perm=[0, 2, 1, 3])
        stacked = graph.node("Reshape", [swapped, graph.integers("stacked", [0, joints, heads * channels])])
        summed = graph.node(
            "MatMul", [stacked, graph.weight("filters", filters.reshape(heads * channels, width))]
        )
    shifted = graph.node("Add", [summed, graph.weight("graph_offset", array(net.graph_norm.bias))])
    hidden = graph.node("Flatten", [graph.node("Relu", [shifted])], axis=1)
    if net.dense is not None and net.dense_norm is not None:
        hidden = _linear(graph, hidden, array(net.dense.weight).T, array(net.dense_norm.bias), "dense")
    classifier = graph.weight("classifier", np.ascontiguousarray(array(net.classifier.weight).T))
    return graph.node("Gemm", [hidden, classifier, graph.weight("class_offset", array(net.classifier.bias))])


def _linear(graph: Graph, source: str, weight: Floats, offset: Floats, name: str) -> str:
    product = graph.node("MatMul", [source, graph.weight(name, np.ascontiguousarray(weight))])
    return graph.node("Relu", [graph.node("Add", [product, graph.weight(f"{name}_offset", offset)])])
