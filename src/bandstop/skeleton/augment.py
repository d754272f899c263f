"""Augmentation of skeleton sequences, vectorised over a batch and deterministic by generator."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from bandstop.record.augment import AugmentConfig

__all__ = ["Augmentation", "rotations", "warped_boundaries"]


class Augmentation(AugmentConfig):
    """Changes training sequences at random, as much as the settings say."""

    @staticmethod
    def of(config: AugmentConfig) -> Augmentation:
        """The settings of a run, put to work."""
        return Augmentation(**vars(config))

    def boundaries(self, lengths: Tensor, chunks: int, generator: Generator) -> Tensor:
        """Random crop and warp of time."""
        return warped_boundaries(lengths, chunks, crop=self.crop, warp=self.warp, generator=generator)

    def frames(self, lengths: Tensor, generator: Generator) -> Tensor:
        """Durations, longer or shorter at random.

        They do not follow the crops, which would make training's shorter than real ones.
        """
        change = torch.randn(len(lengths), generator=generator, dtype=torch.float64) * self.pace
        return lengths * change.exp()

    def __call__(self, chunks: Tensor, generator: Generator) -> Tensor:
        """Rotate, scale and disturb normalised chunks ``[B, M, V, 3]``."""
        batch, _, joints, _ = chunks.shape
        angles = (torch.rand(batch, 3, generator=generator) * 2 - 1) * self.rotation
        factor = 1 + (torch.rand(batch, 1, 3, generator=generator) * 2 - 1) * self.scale
        turned = torch.bmm(chunks.reshape(batch, -1, 3), rotations(angles) * factor).reshape(chunks.shape)
        if self.noise:
            turned.add_(torch.randn(chunks.shape, generator=generator), alpha=self.noise)
        if self.drift:
            turned = turned + torch.randn(batch, 1, joints, 3, generator=generator) * self.drift
        return turned


def rotations(angles: Tensor) -> Tensor:
    """Rotation matrices ``[B, 3, 3]`` about x, then y, then z.

    >>> quarter = rotations(torch.tensor([[0.0, 0.0, math.pi / 2]]))[0]
    >>> (quarter @ torch.tensor([1.0, 0, 0])).round().abs().tolist()
    [0.0, 1.0, 0.0]
    """
    sine, cosine = angles.sin(), angles.cos()
    one, zero = torch.ones_like(sine[:, 0]), torch.zeros_like(sine[:, 0])

    def matrix(*entries: Tensor) -> Tensor:
        return torch.stack(entries, dim=1).reshape(-1, 3, 3)

    about_x = matrix(one, zero, zero, zero, cosine[:, 0], -sine[:, 0], zero, sine[:, 0], cosine[:, 0])
    about_y = matrix(cosine[:, 1], zero, sine[:, 1], zero, one, zero, -sine[:, 1], zero, cosine[:, 1])
    about_z = matrix(cosine[:, 2], -sine[:, 2], zero, sine[:, 2], cosine[:, 2], zero, zero, zero, one)
    return about_z @ about_y @ about_x


def warped_boundaries(
    lengths: Tensor, chunks: int, *, crop: float, warp: float, generator: Generator
) -> Tensor:
    """Chunk boundaries ``[B, M+1]`` after a random crop and a smooth warp ``u + Σ_j c_j sin(jπu)/(jπ)``.

    ``|c_j| ≤ warp ≤ 1/3`` for the three waves keeps time running forward.
    """
    batch = len(lengths)
    cut = torch.rand(batch, 2, generator=generator, dtype=torch.float64) * crop
    bends = (torch.rand(batch, 3, generator=generator, dtype=torch.float64) * 2 - 1) * warp
    grid = torch.linspace(0, 1, chunks + 1, dtype=torch.float64)
    waves = torch.stack([torch.sin(j * math.pi * grid) / (j * math.pi) for j in (1, 2, 3)])
    share = (grid + bends @ waves).clamp(0, 1)
    share = cut[:, :1] + share * (1 - cut.sum(1, keepdim=True))
    return share * lengths.to(torch.float64)[:, None]
