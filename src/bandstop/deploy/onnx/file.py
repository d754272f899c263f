"""ONNX of a finished network: one file, folded, built node by node rather than traced."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from bandstop.deploy.ir.program import Floats
from bandstop.deploy.lower import folded, kind_of
from bandstop.deploy.model import DeployModel
from bandstop.deploy.onnx.gcn import add_gcn
from bandstop.deploy.onnx.graph import Graph
from bandstop.deploy.onnx.lstm import add_lstm
from bandstop.deploy.onnx.sequential import add_sequential
from bandstop.deploy.onnx.tcn import add_tcn
from bandstop.errors import ExportError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NODES", "onnx_runner", "to_onnx"]

LARGEST = 1 << 30
NODES: dict[str, Callable[[Graph, Any, tuple[int, ...]], str]] = {
    "gcn": add_gcn,
    "lstm": add_lstm,
    "tcn": add_tcn,
    "sequential": add_sequential,
}
"""By the name of a network's kind: what adds its nodes to a graph and names its scores."""


def to_onnx(model: DeployModel, *, sparse: bool = False, batch: int | None = None) -> bytes:
    """The file's content.

    ``sparse``: weights as sparse initialisers; ``batch``: a fixed batch size, else any.
    """
    graph = Graph(sparse=sparse)
    last = NODES[kind_of(model.net).name](graph, folded(model.net), model.shape)
    metadata = {
        "producer": "bandstop",
        "class_names": json.dumps(list(model.class_names)),
        "units": model.units,
    }
    if model.normaliser is not None:
        n = model.normaliser
        described: dict[str, object] = {
            "root": n.root,
            "edges": n.edges,
            "node_scale": n.node_scale,
            "chunks": n.chunks,
        }
        if n.duration is not None:
            described["duration"] = n.duration
        if n.unit is not None:
            described["unit"] = n.unit
        if n.facing is not None:
            described["facing"] = n.facing
        if n.parts:
            described["parts"] = [asdict(part) for part in n.parts]
        metadata |= {"normaliser": json.dumps(described), "joint_names": json.dumps(list(model.joint_names))}
    temperature = None
    if model.rejection is not None:
        temperature = model.rejection.temperature
        metadata["rejection"] = json.dumps(
            {"temperature": temperature, "threshold": model.rejection.threshold}
        )
    data = graph.model(
        last, model.shape, len(model.class_names), batch=batch, metadata=metadata, temperature=temperature
    )
    if len(data) > LARGEST:
        raise ExportError("an ONNX file holds at most 1 GiB here; this network is larger")
    return data


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
