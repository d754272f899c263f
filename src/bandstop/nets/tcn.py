"""A temporal convolution network: all joints of a chunk side by side, convolutions over the chunks."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from bandstop.errors import ConfigError
from bandstop.nets.dropout import ByteDropout

__all__ = ["TCN", "TimeConv", "time_steps"]


def time_steps(chunks: int, kernels: Sequence[int], strides: Sequence[int]) -> list[int]:
    """How many moments each of several convolutions has, one after the other and without padding.

    >>> time_steps(32, (1, 5, 5), (1, 2, 1))
    [32, 14, 10]
    """
    found: list[int] = []
    for kernel, stride in zip(kernels, strides, strict=True):
        if chunks < kernel:
            raise ConfigError(
                f"convolution {len(found) + 1} sees {kernel} moments at once, but only {chunks} are left: "
                "raise --chunks, lower --net.kernels or --net.strides, or choose --net.kind gcn"
            )
        chunks = (chunks - kernel) // stride + 1
        found.append(chunks)
    return found


class TimeConv(nn.Module):
    """``relu(norm(W ∗ x))``: a convolution over time without padding, ``[B, C, T]`` → ``[B, width, T′]``."""

    def __init__(self, channels: int, width: int, *, kernel: int, stride: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(channels, width, kernel, stride, bias=False)
        self.conv_norm = nn.BatchNorm1d(width)

    def forward(self, signal: Tensor) -> Tensor:
        return torch.relu(self.conv_norm(self.conv(signal)))


class TCN(nn.Module):
    """Convolutions over the chunks → mean over time → classifier.

    Input ``[B, V, M·K]``: K values of each joint in each of M chunks, chunk by chunk; output: class scores.
    Every weight of a convolution serves all moments, and the classifier is as small as the last width. On
    SHREC'17 (V = 22, M = 32, K = 8, 28 classes):

    >>> net = TCN(22, 256, 28, chunks=32)
    >>> sum(p.numel() for p in net.parameters() if p.ndim > 1)
    252672
    >>> net(torch.zeros(2, 22, 256)).shape
    torch.Size([2, 28])

    ``shared``: which of the K values are the same for all joints, and so are read once per chunk.

    >>> TCN(22, 256, 28, chunks=32, shared=(7,)).channels
    155
    """

    def __init__(
        self,
        joints: int,
        signal: int,
        classes: int,
        *,
        chunks: int,
        widths: Sequence[int] = (96, 160, 192),
        kernels: Sequence[int] = (1, 5, 5),
        strides: Sequence[int] = (1, 2, 1),
        shared: Sequence[int] = (),
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.chunks = chunks
        self.moments = time_steps(chunks, kernels, strides)
        self.shared = tuple(shared)
        self.own = tuple(value for value in range(signal // chunks) if value not in self.shared)
        self.channels = joints * len(self.own) + len(self.shared)
        sizes = [self.channels, *widths]
        self.blocks = nn.Sequential(
            *(
                TimeConv(channels, width, kernel=kernel, stride=stride)
                for channels, width, kernel, stride in zip(sizes, widths, kernels, strides, strict=False)
            )
        )
        self.dropout = ByteDropout(dropout)
        self.classifier = nn.Linear(sizes[-1], classes)

    def forward(self, signal: Tensor) -> Tensor:
        batch, joints, _ = signal.shape
        poses = signal.reshape(batch, joints, self.chunks, -1).transpose(2, 3)
        if self.shared:
            own = poses[:, :, self.own].flatten(1, 2)
            poses = torch.cat([own, poses[:, 0, self.shared]], dim=1)
        hidden = self.blocks(poses.reshape(batch, self.channels, self.chunks))
        scores: Tensor = self.classifier(self.dropout(hidden.mean(dim=2)))
        return scores
