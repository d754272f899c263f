"""A small builder of ONNX graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandstop.deploy.ir.program import Floats
from bandstop.errors import MissingExtra

__all__ = ["Graph"]

OPSET, IR_VERSION = 17, 8
WORTH_SPARSE = 64


class Graph:
    """Nodes and weights so far; ``sparse`` stores every mostly-zero matrix as coordinates."""

    def __init__(self, *, sparse: bool = False) -> None:
        try:
            import onnx
        except ImportError:
            raise MissingExtra("onnx", extra="deploy") from None
        self._onnx: Any = onnx
        self._nodes: list[Any] = []
        self._dense: list[Any] = []
        self._sparse: list[Any] = []
        self._want_sparse = sparse

    def node(self, kind: str, inputs: list[str], *, outputs: int = 1, **attributes: object) -> str:
        """Add a node; the name of its last output."""
        names = [f"{kind.lower()}{len(self._nodes)}" + (f"_{i}" if i else "") for i in range(outputs)]
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, names, **attributes))
        return names[-1]

    def weight(self, name: str, values: Floats) -> str:
        """Add a float32 initialiser."""
        values = np.ascontiguousarray(values, np.float32)
        kept = int(np.count_nonzero(values))
        # Coordinates take 8 bytes beside the value, so they pay only where two thirds are zero.
        if self._want_sparse and values.size > WORTH_SPARSE and 3 * kept < values.size:
            flat = values.ravel()
            index = np.flatnonzero(flat).astype(np.int64)
            data = self._onnx.numpy_helper.from_array(flat[index], name)
            where = self._onnx.numpy_helper.from_array(index, f"{name}_places")
            self._sparse.append(self._onnx.helper.make_sparse_tensor(data, where, list(values.shape)))
        else:
            self._dense.append(self._onnx.numpy_helper.from_array(values, name))
        return name

    def integers(self, name: str, values: list[int]) -> str:
        """Add an int64 initialiser."""
        self._dense.append(self._onnx.numpy_helper.from_array(np.array(values, dtype=np.int64), name))
        return name

    def model(
        self,
        last: str,
        shape: tuple[int, ...],
        classes: int,
        *,
        batch: int | None,
        metadata: dict[str, str],
        temperature: float | None = None,
    ) -> bytes:
        """The finished, checked model; with a ``temperature`` it also gives probabilities."""
        helper, outputs = self._onnx.helper, ["scores"]
        if temperature is not None:
            scaled = self.node("Div", [last, self.weight("temperature", np.array([temperature]))])
            self._nodes.append(helper.make_node("Softmax", [scaled], ["probabilities"], axis=-1))
            outputs.append("probabilities")
        nodes = [*self._nodes, helper.make_node("Identity", [last], ["scores"])]
        lead = batch or "batch"
        graph = helper.make_graph(
            nodes,
            "bandstop",
            [helper.make_tensor_value_info("input", self._onnx.TensorProto.FLOAT, [lead, *shape])],
            [
                helper.make_tensor_value_info(name, self._onnx.TensorProto.FLOAT, [lead, classes])
                for name in outputs
            ],
            initializer=self._dense,
            sparse_initializer=self._sparse,
        )
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(
            graph, producer_name="bandstop", opset_imports=[opset], ir_version=IR_VERSION
        )
        helper.set_model_props(model, metadata)
        self._onnx.checker.check_model(model)
        data: bytes = model.SerializeToString()
        return data
