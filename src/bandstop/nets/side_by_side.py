"""Several convolution networks side by side in one: its scores are the mean of theirs."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from bandstop.errors import ConfigError
from bandstop.nets.tcn import TCN, TimeConv

__all__ = ["side_by_side"]


def side_by_side(
    nets: Sequence[TCN], inputs: Sequence[Sequence[int]], into: TCN, counts: Sequence[int] = ()
) -> TCN:
    """Fill ``into`` so that its scores are the mean of the scores of ``nets``.

    Each width of ``into`` is the sum of theirs; connections from one to another are zero, so it has as many
    weights that are not zero as all of them together. ``inputs``: the channel of ``into`` that each channel
    of each of them reads. ``counts``: of how many networks each has the mean scores already, so that those of
    ``into`` are the mean of all; one each unless given.

    >>> settings = {"chunks": 8, "kernels": (3,), "strides": (1,)}
    >>> nets = [TCN(2, 24, 3, widths=(4,), **settings).eval() for _ in range(2)]
    >>> wide = side_by_side(nets, [range(6)] * 2, TCN(2, 24, 3, widths=(8,), **settings).eval())
    >>> signals = torch.randn(5, 2, 24)
    >>> bool(torch.allclose(wide(signals), (nets[0](signals) + nets[1](signals)) / 2, atol=1e-5))
    True
    """
    blocks = [_blocks(net) for net in nets]
    if any(_shape(found) != _shape(_blocks(into)) for found in blocks):
        raise ConfigError("networks side by side must have the same kernels and strides, found others")
    with torch.no_grad():
        for depth, target in enumerate(_blocks(into)):
            target.conv.weight.zero_()
            row, column = 0, 0
            for place, found in enumerate(blocks):
                source = found[depth]
                width, channels, _ = source.conv.weight.shape
                read = list(inputs[place]) if depth == 0 else list(range(column, column + channels))
                target.conv.weight[row : row + width, read] = source.conv.weight
                _copy_norm(source.conv_norm, target.conv_norm, row)
                row, column = row + width, column + channels
        weighed = list(zip(nets, counts or [1] * len(nets), strict=True))
        total = sum(count for _, count in weighed)
        into.classifier.weight.copy_(
            torch.cat([n.classifier.weight * count for n, count in weighed], 1) / total
        )
        biases = torch.stack([net.classifier.bias * count for net, count in weighed])
        into.classifier.bias.copy_(biases.sum(0) / total)
    return into


def _blocks(net: TCN) -> list[TimeConv]:
    return [block for block in net.blocks if isinstance(block, TimeConv)]


def _shape(blocks: Sequence[TimeConv]) -> list[tuple[object, object]]:
    return [(block.conv.kernel_size, block.conv.stride) for block in blocks]


def _copy_norm(source: nn.BatchNorm1d, target: nn.BatchNorm1d, begin: int) -> None:
    """Factors, offsets and statistics, from place ``begin`` on."""
    values, state = source.state_dict(), target.state_dict()
    for name in ("weight", "bias", "running_mean", "running_var"):
        state[name][begin : begin + len(values[name])] = values[name]
