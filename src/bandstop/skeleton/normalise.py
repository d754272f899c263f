"""From chunk averages to node signals: position and size are taken out, each joint has its own trajectory.

Everything is a function of the chunk averages and the number of frames, so a device that has summed frames
into M chunks can do the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bandstop.errors import ConfigError

__all__ = ["STEP", "Normaliser", "body_size", "centred"]

STEP = 2.0
"""Steps from chunk to chunk are much smaller than places; this makes up for a part of it."""

_STILL = 1e-5
"""Below this RMS, in units of body size, a joint does not move."""


def body_size(chunks: Tensor, edges: Tensor, root: int) -> Tensor:
    """Mean bone length ``[B, 1, 1, 1]`` over chunks and edges (without edges: RMS distance to the root).

    >>> body_size(torch.tensor([[[[0.0, 0, 0], [3, 4, 0]]]]), torch.tensor([[0, 1]]), root=0).item()
    5.0
    """
    if len(edges):
        bones = (chunks[:, :, edges[:, 0]] - chunks[:, :, edges[:, 1]]).norm(dim=-1)
        size = bones.mean(dim=(1, 2))
    else:
        size = (chunks - chunks[:, :, root : root + 1]).square().sum(-1).mean(dim=(1, 2)).sqrt()
    spread: Tensor = size.clamp(min=1e-9)[:, None, None, None]
    return spread


def centred(chunks: Tensor, root: int) -> Tensor:
    """Joints relative to the root in each chunk; the root itself relative to its mean over time."""
    trajectory = chunks[:, :, root : root + 1]
    relative = chunks - trajectory
    relative[:, :, root] = (trajectory - trajectory.mean(dim=1, keepdim=True))[:, :, 0]
    return relative


@dataclass(frozen=True)
class Normaliser:
    """Chunk averages ``[B, M, V, 3]`` → node signals ``[B, V, 3M]`` (value ``3m + axis``).

    ``places = centred(chunks) / body_size / node_scale`` with ``node_scale`` the RMS of each joint over the
    training set. With ``duration`` a joint has ``3(M − 1) + 1`` values more: ``STEP`` times its steps from
    each chunk to the next, and how long the sequence lasted, ``(log frames − mean) / deviation``.

    >>> n = Normaliser(root=0, edges=((0, 1),), node_scale=(1.0, 1.0), chunks=1)
    >>> n(torch.tensor([[[[1.0, 1, 1], [1, 3, 1]]]])).tolist()
    [[[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    >>> moving = Normaliser(0, (), (1.0,), chunks=2, duration=(0.0, 1.0))
    >>> moving.signals(torch.ones(1, 2, 1, 3), torch.tensor([1])).shape
    torch.Size([1, 1, 10])
    """

    root: int
    edges: tuple[tuple[int, int], ...]
    node_scale: tuple[float, ...]
    chunks: int = 32
    duration: tuple[float, float] | None = None
    """Mean and deviation of the logarithm of a sequence's frames; none: places only."""

    @property
    def values(self) -> int:
        """Values of a joint's signal."""
        return 3 * self.chunks if self.duration is None else 6 * self.chunks - 2

    @staticmethod
    def fit(chunks: Tensor, edges: Tensor, root: int, frames: Tensor | None = None) -> Normaliser:
        """Measure ``node_scale`` on training chunks, and ``duration`` if their ``frames`` are given."""
        links = tuple((int(a), int(b)) for a, b in torch.as_tensor(edges).reshape(-1, 2).tolist())
        plain = Normaliser(root, links, (1.0,) * chunks.shape[2], chunks.shape[1])
        rms = plain.resize(chunks).square().mean(dim=(0, 1, 3)).sqrt()
        # A joint that never moves (the root of static poses) is not divided: rounding would blow up.
        scale = tuple(float(f"{r:.6g}") if r > _STILL else 1.0 for r in rms.tolist())
        if frames is None:
            return Normaliser(root, links, scale, chunks.shape[1])
        log = frames.double().log()
        spread = max(float(log.std(correction=0)), 0.1)
        return Normaliser(
            root, links, scale, chunks.shape[1], (round(float(log.mean()), 4), round(spread, 4))
        )

    def resize(self, chunks: Tensor) -> Tensor:
        """Centred chunks in units of body size and node scale ``[B, M, V, 3]``: where augmentation acts."""
        edges = torch.tensor(self.edges, dtype=torch.long).reshape(-1, 2)
        scale = torch.tensor(self.node_scale, dtype=chunks.dtype)[:, None]
        return centred(chunks, self.root) / body_size(chunks, edges, self.root) / scale

    def signals(self, resized: Tensor, frames: Tensor | None = None) -> Tensor:
        """``[B, M, V, 3]`` from `resize` → ``[B, V, values]``; ``frames``: how many each sequence has."""
        batch, count, joints, axes = resized.shape
        places = resized.permute(0, 2, 1, 3)
        flat = places.reshape(batch, joints, count * axes)
        if self.duration is None:
            return flat
        if frames is None:
            raise ConfigError("signals of motion need the number of frames of each sequence; none was given")
        mean, deviation = self.duration
        lasting = ((frames.double().log() - mean) / deviation).to(flat.dtype)
        steps = places.diff(dim=2).reshape(batch, joints, -1) * STEP
        return torch.cat([flat, steps, lasting[:, None, None].expand(-1, joints, 1)], dim=2)

    def __call__(self, chunks: Tensor, frames: Tensor | None = None) -> Tensor:
        return self.signals(self.resize(chunks), frames)
