"""The program of convolutions over time: each kept weight is one entry that serves all moments.

The signal lies chunk by chunk (value ``K·m + k`` of joint v at ``(K·m + k)·joints + v``; what joints share
stands once, after a chunk's other values), later tensors channel by channel with their moments side by side.
Where vectors count (``Variant.pitch``), the moments of the signal lie side by side too, and rows are padded
to whole vectors. A convolution of stride s reads every s-th moment: the signal's lie in s *phases*, first 0,
s, 2s …, then 1, s + 1 …, so that they are neighbours.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bandstop.deploy.ir.program import Affine, Floats, Ints, Program, Term
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


@dataclass(frozen=True)
class _Moments:
    """A tensor of moments: channel c's moment m at ``c·pitch + (m mod phases)·part + m div phases``."""

    name: str
    channels: int
    count: int
    lanes: int
    phases: int = 1

    @property
    def part(self) -> int:
        """Moments of a phase."""
        return -(-self.count // self.phases)

    @property
    def filled(self) -> int:
        """Values of a row; a phase that is one moment short has a value that nothing reads."""
        return self.part * self.phases

    @property
    def pitch(self) -> int:
        return -(-self.filled // self.lanes) * self.lanes

    @property
    def size(self) -> int:
        """With room for the last vector to be read whole."""
        return self.channels * self.pitch + (self.lanes if self.lanes > 1 else 0)

    def at(self, channel: Ints, moment: Ints) -> Ints:
        """Where moments of channels lie."""
        found: Ints = channel * self.pitch + moment % self.phases * self.part + moment // self.phases
        return found

    def bias(self, offset: Floats) -> Floats:
        found = np.zeros(self.size, np.float32)
        for channel, value in enumerate(offset):
            found[channel * self.pitch : channel * self.pitch + self.filled] = value
        return found


def lower_tcn(net: TCN, example: Tensor, variant: Variant) -> Program:
    """The unsimplified program of a folded network."""
    joints, values = example.shape[1:]
    blocks, lanes = _blocks(net), variant.pitch or 1
    whole = _Moments("signal", net.channels, net.chunks, lanes, _phases(blocks))
    source = whole if variant.pitch else None
    size, index = _signal(net, joints, values, source)
    operations = []
    for number, (block, count) in enumerate(zip(blocks, net.moments, strict=True)):
        conv = block.conv
        # A kernel of one leaves the order of moments as it is; others put them in order.
        phases = source.phases if source and conv.kernel_size[0] == conv.stride[0] == 1 else 1
        found = _Moments(f"moments{number + 1}", conv.out_channels, count, lanes, phases)
        term = _convolved(net, block, source, found, joints)
        operations.append(Affine(found.name, (term,), found.bias(array(block.conv_norm.bias)), "relu"))
        source = found
    assert source is not None
    operations.append(_mean(source))
    classifier = array(net.classifier.weight)
    row, channel = np.nonzero(classifier)
    term = Term("mean", row, channel, classifier[row, channel])
    operations.append(Affine("scores", (term,), array(net.classifier.bias)))
    sizes = {"signal": size, **{o.dst: len(o.bias) for o in operations}}
    return Program(tuple(operations), sizes, index, len(classifier))


def _phases(blocks: list[TimeConv]) -> int:
    """The stride of the first convolution that does not leave the order of moments as it is."""
    for block in blocks:
        if block.conv.kernel_size[0] > 1 or block.conv.stride[0] > 1:
            return block.conv.stride[0]
    return 1


def _signal(net: TCN, joints: int, values: int, source: _Moments | None) -> tuple[int, Ints]:
    """Size of the signal, and where each value of each joint lies in it; ``source``: none chunk by chunk.

    A value that joints share is read of the first one.
    """
    per_chunk, own = values // net.chunks, len(net.own)
    channel = np.full((joints, 1, per_chunk), -1)
    channel[:, 0, net.own] = np.arange(joints * own).reshape(joints, own)
    channel[0, 0, net.shared] = joints * own + np.arange(len(net.shared))
    moment = np.arange(net.chunks)[:, None]
    if source is None:
        size, found = net.channels * net.chunks, moment * net.channels + _in_chunk(net, channel, joints)
    else:
        size, found = source.size, source.at(channel, moment)
    return size, np.where(channel < 0, -1, found).ravel()


def _in_chunk(net: TCN, channel: Ints, joints: int) -> Ints:
    """Where channels lie within a chunk, where the signal goes chunk by chunk."""
    own = len(net.own)
    return np.where(channel < joints * own, channel % own * joints + channel // own, channel)


def _convolved(net: TCN, block: TimeConv, source: _Moments | None, found: _Moments, joints: int) -> Term:
    """Every kept weight once, for all moments; ``source``: none for the signal itself."""
    weight, stride = array(block.conv.weight), block.conv.stride[0]
    row, channel, tap = np.nonzero(weight)
    kept = weight[row, channel, tap]
    if source is None:
        step = net.channels
        column = tap * step + _in_chunk(net, channel, joints)
        return Term("signal", row * found.pitch, column, kept, found.count, 1, stride * step)
    phases = source.phases
    column = source.at(channel, tap)
    step = 1 if found.phases == phases > 1 else stride // phases
    return Term(source.name, row * found.pitch, column, kept, found.filled, 1, step)


def _mean(source: _Moments) -> Affine:
    """Means over time: one entry per moment, the same for all channels."""
    moment = np.arange(source.count)
    column = source.at(np.zeros_like(moment), moment)
    share = np.full(source.count, 1 / source.count, np.float32)
    term = Term(source.name, np.zeros_like(moment), column, share, source.channels, 1, source.pitch)
    return Affine("mean", (term,), np.zeros(source.channels, np.float32))


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


def _variants(net: TCN, lanes: int) -> list[Variant]:
    return [Variant(), Variant(lanes)]


TCN_KIND = Kind("tcn", TCN, lower_tcn, fold_tcn, _variants, _settings)
