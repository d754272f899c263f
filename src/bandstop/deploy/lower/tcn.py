"""The program of convolutions over time: each kept weight is one entry that serves all moments.

The signal lies chunk by chunk (value ``K·m + k`` of joint v at ``(K·m + k)·joints + v``), later tensors
channel by channel with their moments side by side.
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor

from bandstop.deploy.ir.program import Affine, Floats, Program, Term
from bandstop.deploy.lower.batchnorm import array, neutral, norm_affine
from bandstop.deploy.lower.kind import Kind, Variant
from bandstop.nets import NetConfig
from bandstop.nets.tcn import TCN, TimeConv

__all__ = ["TCN_KIND", "fold_tcn", "lower_tcn"]


def fold_tcn(net: TCN) -> TCN:
    """A copy with the same scores whose normalisations do nothing but add their ``bias``.

    >>> net = TCN(3, 48, 2, chunks=8, widths=(4,), kernels=(3,), strides=(1,)).eval()
    >>> x = torch.randn(4, 3, 48)
    >>> bool(torch.allclose(net(x), fold_tcn(net)(x), atol=1e-6))
    True
    """
    folded = copy.deepcopy(net)
    with torch.no_grad():
        for number, block in enumerate(_blocks(folded)):
            factor, offset = norm_affine(block.conv_norm, f"blocks.{number}.conv_norm")
            block.conv.weight.mul_(torch.from_numpy(factor)[:, None, None])
            neutral(block.conv_norm, f"blocks.{number}.conv_norm")
            block.conv_norm.bias.copy_(torch.from_numpy(offset))
    return folded


def lower_tcn(net: TCN, example: Tensor, variant: Variant) -> Program:
    """The unsimplified program of a folded network; there are no variants."""
    joints, values = example.shape[1:]
    per_chunk = values // net.chunks
    operations = []
    for number, (block, moments) in enumerate(zip(_blocks(net), net.moments, strict=True)):
        weight, stride = array(block.conv.weight), block.conv.stride[0]
        row, channel, tap = np.nonzero(weight)
        if number == 0:
            source, step = "signal", per_chunk * joints
            column = tap * step + channel % per_chunk * joints + channel // per_chunk
        else:
            source, step = f"moments{number}", 1
            column = channel * net.moments[number - 1] + tap
        term = Term(source, row * moments, column, weight[row, channel, tap], moments, 1, stride * step)
        bias = np.repeat(array(block.conv_norm.bias), moments)
        operations.append(Affine(f"moments{number + 1}", (term,), bias, "relu"))
    operations.append(_mean(operations[-1].dst, net.moments[-1], net.classifier.in_features))
    classifier = array(net.classifier.weight)
    row, channel = np.nonzero(classifier)
    term = Term("mean", row, channel, classifier[row, channel])
    operations.append(Affine("scores", (term,), array(net.classifier.bias)))
    sizes = {"signal": values * joints, **{o.dst: len(o.bias) for o in operations}}
    index = (np.arange(values)[None, :] * joints + np.arange(joints)[:, None]).ravel()
    return Program(tuple(operations), sizes, index, len(classifier))


def _mean(source: str, moments: int, channels: int) -> Affine:
    """Means over time: one entry per moment, the same for all channels."""
    share: Floats = np.full(moments, 1 / moments, np.float32)
    first = np.zeros(moments, np.int64)
    term = Term(source, first, np.arange(moments), share, channels, 1, moments)
    return Affine("mean", (term,), np.zeros(channels, np.float32))


def _blocks(net: TCN) -> list[TimeConv]:
    return [block for block in net.blocks if isinstance(block, TimeConv)]


def _settings(net: TCN) -> dict[str, object]:
    convs = [block.conv for block in _blocks(net)]
    found = {
        "widths": tuple(conv.out_channels for conv in convs),
        "kernels": tuple(conv.kernel_size[0] for conv in convs),
        "strides": tuple(conv.stride[0] for conv in convs),
    }
    return {"kind": "tcn", **{n: value for n, value in found.items() if value != getattr(NetConfig(), n)}}


TCN_KIND = Kind("tcn", TCN, lower_tcn, fold_tcn, settings=_settings)
