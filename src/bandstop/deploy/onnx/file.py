"""ONNX of a finished network: one file, folded, built node by node rather than traced."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from bandstop.deploy.lower.folding import Floats, array, norm_affine
from bandstop.deploy.model import DeployModel
from bandstop.deploy.onnx.graph import Graph
from bandstop.deploy.onnx.lstm import add_lstm
from bandstop.deploy.onnx.sequential import add_sequential
from bandstop.errors import ExportError, MissingExtra
from bandstop.nets.gcn import GCN
from bandstop.nets.lstm import LSTMRecogniser

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["onnx_runner", "to_onnx"]

LARGEST = 1 << 30


def to_onnx(model: DeployModel, *, sparse: bool = False, batch: int | None = None) -> bytes:
    """The file's content; ``sparse``: weights as sparse initialisers; ``batch``: a fixed batch size, else any."""
    graph = Graph(sparse=sparse)
    if isinstance(model.net, GCN):
        last = _gcn(graph, model.net)
    elif isinstance(model.net, LSTMRecogniser):
        last = add_lstm(graph, model.net, model.shape)
    elif isinstance(model.net, nn.Sequential):
        last = add_sequential(graph, model.net, model.shape)
    else:
        raise ExportError(
            f"only GCN, LSTMRecogniser and nn.Sequential can be exported, found {type(model.net).__name__}"
        )
    metadata = {
        "producer": "bandstop",
        "class_names": json.dumps(list(model.class_names)),
        "units": model.units,
    }
    if model.normaliser is not None:
        n = model.normaliser
        described = {"root": n.root, "edges": n.edges, "node_scale": n.node_scale, "chunks": n.chunks}
        if n.duration is not None:
            described["duration"] = n.duration
        metadata |= {"normaliser": json.dumps(described), "joint_names": json.dumps(list(model.joint_names))}
    data = graph.model(last, model.shape, len(model.class_names), batch=batch, metadata=metadata)
    if len(data) > LARGEST:
        raise ExportError("an ONNX file holds at most 1 GiB here; this network is larger")
    return data


def _gcn(graph: Graph, net: GCN) -> str:
    adjacency, filters = array(net.graph.adjacency), array(net.graph.filters)
    heads, joints, _ = adjacency.shape
    _, channels, width = filters.shape
    concatenated = net.graph.combine == "concat"
    factor, offset = norm_affine(net.encoder_norm, "encoder_norm")
    nodes = _linear(graph, "input", array(net.encoder.weight).T * factor, offset, "nodes")
    factor, offset = norm_affine(net.graph_norm, "graph_norm")
    if concatenated:
        filters = filters * factor.reshape(heads, 1, width)
        # [B, 1, V, C] with [K, V, V], then with [K, C, F]: one batched product a side.
        lifted = graph.node("Unsqueeze", [nodes, graph.integers("axis", [1])])
        mixed = graph.node("MatMul", [graph.weight("adjacency", adjacency), lifted])
        summed = graph.node("MatMul", [mixed, graph.weight("filters", filters)])
        turned = graph.node("Transpose", [summed], perm=[0, 2, 1, 3])
        summed = graph.node("Reshape", [turned, graph.integers("wide", [0, joints, heads * width])])
    else:
        filters = filters * factor
        flat = graph.weight("adjacency", adjacency.reshape(heads * joints, joints))
        mixed = graph.node("MatMul", [flat, nodes])
        split = graph.node("Reshape", [mixed, graph.integers("split", [0, heads, joints, channels])])
        turned = graph.node("Transpose", [split], perm=[0, 2, 1, 3])
        stacked = graph.node("Reshape", [turned, graph.integers("stacked", [0, joints, heads * channels])])
        summed = graph.node(
            "MatMul", [stacked, graph.weight("filters", filters.reshape(heads * channels, width))]
        )
    shifted = graph.node("Add", [summed, graph.weight("graph_offset", offset)])
    hidden = graph.node("Flatten", [graph.node("Relu", [shifted])], axis=1)
    if net.dense is not None and net.dense_norm is not None:
        factor, offset = norm_affine(net.dense_norm, "dense_norm")
        hidden = _linear(graph, hidden, array(net.dense.weight).T * factor, offset, "dense")
    classifier = graph.weight("classifier", np.ascontiguousarray(array(net.classifier.weight).T))
    return graph.node("Gemm", [hidden, classifier, graph.weight("class_offset", array(net.classifier.bias))])


def _linear(graph: Graph, source: str, weight: Floats, offset: Floats, name: str) -> str:
    product = graph.node("MatMul", [source, graph.weight(name, np.ascontiguousarray(weight))])
    return graph.node("Relu", [graph.node("Add", [product, graph.weight(f"{name}_offset", offset)])])


def onnx_runner(data: bytes) -> Callable[[Floats], Floats]:
    """A function that runs the file: by ONNX Runtime if it is installed, else by ONNX's own reference."""
    try:
        import onnxruntime
    except ImportError:
        return _reference_runner(data)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session: Any = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])

    def run(inputs: Floats) -> Floats:
        scores: Floats = session.run(None, {"input": np.asarray(inputs, np.float32)})[0]
        return scores

    return run


def _reference_runner(data: bytes) -> Callable[[Floats], Floats]:
    try:
        import onnx
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        raise MissingExtra("onnx", extra="deploy") from None
    session: Any = ReferenceEvaluator(onnx.load_from_string(data))

    def run(inputs: Floats) -> Floats:
        scores: Floats = session.run(None, {"input": np.asarray(inputs, np.float32)})[0]
        return scores

    return run
