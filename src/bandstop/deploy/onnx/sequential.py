"""ONNX nodes of `nn.Sequential` stacks."""

from __future__ import annotations

import numpy as np
from torch import nn

from bandstop.deploy.lower.batchnorm import array, norm_affine
from bandstop.deploy.lower.sequential import flattened_layers
from bandstop.deploy.onnx.graph import Graph
from bandstop.errors import ExportError
from bandstop.nets.gcn import ChannelNorm

__all__ = ["add_sequential"]


def add_sequential(graph: Graph, net: nn.Sequential, shape: tuple[int, ...]) -> str:
    """Add the layers one by one; the name of the last output."""
    last, ranks = "input", len(shape)
    for name, layer in flattened_layers(net):
        if isinstance(layer, nn.Identity | nn.Dropout | nn.Dropout1d):
            continue
        if isinstance(layer, nn.Flatten):
            last, ranks = graph.node("Flatten", [last], axis=1), 1
        else:
            last = _layer(graph, layer, name, last, ranks)
    return last


def _layer(graph: Graph, layer: nn.Module, name: str, last: str, ranks: int) -> str:
    plain = {nn.ReLU: "Relu", nn.Tanh: "Tanh", nn.Sigmoid: "Sigmoid"}
    if type(layer) in plain:
        return graph.node(plain[type(layer)], [last])
    if isinstance(layer, nn.LeakyReLU):
        return graph.node("LeakyRelu", [last], alpha=float(layer.negative_slope))
    if isinstance(layer, nn.Linear):
        weight = graph.weight(f"{name}_weight", np.ascontiguousarray(array(layer.weight).T))
        last = graph.node("MatMul", [last, weight])
        return (
            last
            if layer.bias is None
            else graph.node("Add", [last, graph.weight(f"{name}_bias", array(layer.bias))])
        )
    if isinstance(layer, nn.Conv1d) and not isinstance(layer.padding, str):
        inputs = [last, graph.weight(f"{name}_weight", array(layer.weight))]
        inputs += [] if layer.bias is None else [graph.weight(f"{name}_bias", array(layer.bias))]
        pads = [layer.padding[0], layer.padding[0]]
        steps, spread = list(layer.stride), list(layer.dilation)
        return graph.node("Conv", inputs, pads=pads, strides=steps, dilations=spread, group=layer.groups)
    if isinstance(layer, nn.BatchNorm1d):
        factor, offset = norm_affine(layer, name)
        if ranks == 2 and not isinstance(layer, ChannelNorm):
            factor, offset = factor[:, None], offset[:, None]
        scaled = graph.node("Mul", [last, graph.weight(f"{name}_factor", factor)])
        return graph.node("Add", [scaled, graph.weight(f"{name}_offset", offset)])
    if isinstance(layer, nn.AdaptiveAvgPool1d) and layer.output_size in (1, (1,)):
        return graph.node("GlobalAveragePool", [last])
    raise ExportError(f"layer {name}: {layer} cannot be exported to ONNX")
