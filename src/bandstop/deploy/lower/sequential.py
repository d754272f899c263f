"""Programs of `nn.Sequential` stacks of linear, convolution, normalisation, pooling and activation layers."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
from torch import Tensor, nn

from bandstop.deploy.ir.program import LEAK, Activation, Affine, Floats, Program, Term
from bandstop.deploy.lower.batchnorm import array, norm_affine
from bandstop.deploy.lower.kind import Kind, Variant
from bandstop.errors import ExportError
from bandstop.nets.gcn import ChannelNorm

__all__ = ["SEQUENTIAL_KIND", "flattened_layers", "lower_sequential"]

Shape = tuple[int, ...]


class _Builder:
    """The operations so far, and the shape of the last tensor (without the batch)."""

    def __init__(self, shape: Shape) -> None:
        self.shape, self.last = shape, "signal"
        self.sizes = {"signal": prod(shape)}
        self.operations: list[Affine] = []

    def affine(self, terms: list[Term], bias: Floats, shape: Shape) -> None:
        name = f"layer{len(self.operations) + 1}"
        self.operations.append(Affine(name, tuple(terms), np.ascontiguousarray(bias, np.float32)))
        self.sizes[name], self.last, self.shape = prod(shape), name, shape

    def scale(self, factor: Floats, offset: Floats) -> None:
        """``factor · x + offset`` per element; folded into the operation before where that is linear."""
        factor, offset = (np.broadcast_to(v, self.shape).ravel() for v in (factor, offset))
        before = self.operations[-1] if self.operations else None
        if before is None or before.activation != "none" or not _row_constant(before, factor):
            index = np.arange(prod(self.shape))
            self.affine([Term(self.last, index, index, factor.astype(np.float32))], offset, self.shape)
            return
        terms = tuple(replace(t, weights=t.weights * factor[t.rows]) for t in before.terms)
        bias = before.bias * factor + offset
        self.operations[-1] = replace(before, terms=terms, bias=bias.astype(np.float32))

    def activate(self, activation: Activation) -> None:
        if not self.operations or self.operations[-1].activation != "none":
            self.scale(np.ones(1, np.float32), np.zeros(1, np.float32))
        self.operations[-1] = replace(self.operations[-1], activation=activation)


def _row_constant(before: Affine, factor: Floats) -> bool:
    return all(bool((factor[t.destinations()] == factor[t.rows][:, None]).all()) for t in before.terms)


def lower_sequential(net: nn.Sequential, example: Tensor, variant: Variant) -> Program:
    """The unsimplified program for inputs shaped like ``example``; there are no variants."""
    shape = tuple(example.shape[1:])
    builder = _Builder(shape)
    for name, layer in flattened_layers(net):
        _add(builder, layer, name)
    if not builder.operations:
        raise ExportError("the network has no layer that computes anything; nothing to export")
    last = builder.operations[-1]
    builder.operations[-1] = replace(last, dst="scores")
    builder.sizes["scores"] = builder.sizes.pop(last.dst)
    size = builder.sizes["scores"]
    return Program(tuple(builder.operations), builder.sizes, np.arange(prod(shape)), size)


def flattened_layers(net: nn.Sequential, prefix: str = "") -> list[tuple[str, nn.Module]]:
    """Layers of nested stacks in order, by their full names."""
    found: list[tuple[str, nn.Module]] = []
    for name, layer in net.named_children():
        found += (
            flattened_layers(layer, f"{prefix}{name}.")
            if isinstance(layer, nn.Sequential)
            else [(prefix + name, layer)]
        )
    return found


def _add(builder: _Builder, layer: nn.Module, name: str) -> None:
    activations: dict[type[nn.Module], Activation] = {nn.ReLU: "relu", nn.Tanh: "tanh", nn.Sigmoid: "sigmoid"}
    if isinstance(layer, nn.Identity | nn.Dropout | nn.Dropout1d):
        return
    if type(layer) in activations:
        builder.activate(activations[type(layer)])
    elif isinstance(layer, nn.LeakyReLU) and layer.negative_slope == LEAK:
        builder.activate("leaky")
    elif isinstance(layer, nn.Flatten) and layer.start_dim == 1 and layer.end_dim == -1:
        builder.shape = (prod(builder.shape),)
    elif isinstance(layer, nn.Linear):
        _linear(builder, layer, name)
    elif isinstance(layer, nn.Conv1d):
        _convolution(builder, layer, name)
    elif isinstance(layer, nn.BatchNorm1d):
        factor, offset = norm_affine(layer, name)
        across = len(builder.shape) == 2 and not isinstance(layer, ChannelNorm)
        builder.scale(*((factor[:, None], offset[:, None]) if across else (factor, offset)))
    elif (
        isinstance(layer, nn.AdaptiveAvgPool1d) and layer.output_size in (1, (1,)) and len(builder.shape) == 2
    ):
        channels, length = builder.shape
        rows = np.repeat(np.arange(channels), length)
        share = np.full(channels * length, 1 / length, np.float32)
        term = Term(builder.last, rows, np.arange(channels * length), share)
        builder.affine([term], np.zeros(channels, np.float32), (channels, 1))
    else:
        raise ExportError(
            f"layer {name}: {layer} cannot be exported; it has no translation to a sparse program"
        )


def _linear(builder: _Builder, layer: nn.Linear, name: str) -> None:
    *lead, inputs = builder.shape
    if inputs != layer.in_features:
        raise ExportError(f"layer {name}: expects {layer.in_features} values, found {inputs}")
    matrix, repeats, outputs = array(layer.weight), prod(lead), layer.out_features
    rows, columns = np.nonzero(matrix)
    term = Term(builder.last, rows, columns, matrix[rows, columns], repeats, outputs, inputs)
    bias = np.zeros(outputs, np.float32) if layer.bias is None else array(layer.bias)
    builder.affine([term], np.tile(bias, repeats), (*lead, outputs))


def _convolution(builder: _Builder, layer: nn.Conv1d, name: str) -> None:
    if len(builder.shape) != 2 or builder.shape[0] != layer.in_channels:
        raise ExportError(f"layer {name}: expects [{layer.in_channels}, length], found {list(builder.shape)}")
    if layer.padding_mode != "zeros" or isinstance(layer.padding, str) or layer.groups != 1:
        raise ExportError(f"layer {name}: {layer} cannot be exported; only ungrouped zero-padded Conv1d can")
    (_, length), (pad,), (stride,), (dilation,) = builder.shape, layer.padding, layer.stride, layer.dilation
    taps, weight = layer.kernel_size[0], array(layer.weight)
    steps = (length + 2 * pad - dilation * (taps - 1) - 1) // stride + 1
    terms = []
    for tap in range(taps):
        shift = tap * dilation - pad
        first = max(0, -(shift // stride))
        last = min(steps, (length - 1 - shift) // stride + 1)
        rows, columns = np.nonzero(weight[:, :, tap])
        if last > first and len(rows):
            ends = (rows * steps + first, columns * length + first * stride + shift)
            terms.append(Term(builder.last, *ends, weight[rows, columns, tap], last - first, 1, stride))
    bias = np.zeros(len(weight), np.float32) if layer.bias is None else array(layer.bias)
    builder.affine(terms, np.repeat(bias, steps), (len(weight), steps))


SEQUENTIAL_KIND = Kind("sequential", nn.Sequential, lower_sequential)
