"""From chunk averages to node signals: position and size are taken out, each joint has its own trajectory.

Everything is a function of the chunk averages and the number of frames, so a device that has summed frames
into M chunks can do the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bandstop.errors import ConfigError
from bandstop.record.signal import PARTS, SHARED, UNSCALED
from bandstop.skeleton.facing import choose_facing, turned, turns
from bandstop.skeleton.parts import Part, part_values

__all__ = ["MOST_CHUNKS", "STEP", "Normaliser", "body_size", "centred"]

MOST_CHUNKS = 65_536
"""More chunks than any gesture has frames."""

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

    With ``unit`` all sequences have that size instead of their own; with ``facing`` each is turned so that
    those two joints of its first chunk lie on the x axis and above it (`bandstop.skeleton.facing`).

    With ``parts`` the signal goes chunk by chunk instead: ``[B, V, M·K]``, value ``K·m + k``, where the K
    values of a chunk are those of the parts in order (`bandstop.skeleton.parts`).

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
    parts: tuple[Part, ...] = ()
    """What a chunk holds, where that is composed of parts; the first are the places."""
    unit: float | None = None
    """The size of every sequence; none: each has its own, its mean bone length."""
    facing: tuple[int, int] | None = None
    """The joints that say, with the root, how a sequence is turned; none: it stays as it is."""

    def __post_init__(self) -> None:
        joints, named = len(self.node_scale), {self.root, *(end for edge in self.edges for end in edge)}
        if not all(0 <= joint < joints for joint in named):
            raise ConfigError(f"root and edges of a normaliser must be joints from 0 to {joints - 1}")
        if not 1 <= self.chunks <= MOST_CHUNKS:
            raise ConfigError(f"a sequence has 1 to {MOST_CHUNKS:,} chunks, found {self.chunks}")
        if self.unit is not None and not 0 < self.unit < math.inf:
            raise ConfigError(f"the unit of a normaliser must be above zero, found {self.unit}")
        frame = {self.root, *(self.facing or ())}
        if self.facing is not None and (len(frame) != 3 or not frame <= set(range(joints))):
            raise ConfigError(f"a normaliser faces by two joints besides the root, found {self.facing}")

    @property
    def values(self) -> int:
        """Values of a joint's signal."""
        if self.parts:
            return self.chunks * sum(PARTS[part.name] for part in self.parts)
        return 3 * self.chunks if self.duration is None else 6 * self.chunks - 2

    @property
    def shared(self) -> tuple[int, ...]:
        """Which values of a chunk convolutions over time read once, not at every joint."""
        names = [part.name for part in self.parts for _ in range(PARTS[part.name])]
        return tuple(place for place, name in enumerate(names) if name in SHARED)

    @staticmethod
    def fit(
        chunks: Tensor,
        edges: Tensor,
        root: int,
        frames: Tensor | None = None,
        parts: Sequence[str] = (),
        *,
        size: bool = True,
        orientation: bool = False,
    ) -> Normaliser:
        """Measure ``node_scale`` on training chunks, ``duration`` if ``frames`` are given, and ``parts``.

        ``size``, ``orientation``: which of these are taken out of each sequence.
        """
        links = tuple((int(a), int(b)) for a, b in torch.as_tensor(edges).reshape(-1, 2).tolist())
        plain = Normaliser(root, links, (1.0,) * chunks.shape[2], chunks.shape[1])
        if not size:
            plain = replace(plain, unit=float(f"{plain.sizes(chunks).mean():.6g}"))
        if orientation:
            plain = replace(plain, facing=choose_facing(plain.resize(chunks), root))
        body = plain.resize(chunks)
        rms = body.square().mean(dim=(0, 1, 3)).sqrt()
        # A joint that never moves (the root of static poses) is not divided: rounding would blow up.
        scale = tuple(float(f"{r:.6g}") if r > _STILL else 1.0 for r in rms.tolist())
        found = replace(plain, node_scale=scale)
        if frames is not None:
            log = frames.double().log()
            spread = max(float(log.std(correction=0)), 0.1)
            found = replace(found, duration=(round(float(log.mean()), 4), round(spread, 4)))
        return replace(found, parts=tuple(found._measured(name, body) for name in parts))

    def _measured(self, name: str, body: Tensor) -> Part:
        """A part, measured on places in units of body size; places and what joints share have scales."""
        if name == "places":
            return Part(name, self.node_scale)
        if name in UNSCALED:
            return Part(name)
        return Part.fit(name, part_values(name, body, self.edges, self.root, None))

    def resize(self, chunks: Tensor) -> Tensor:
        """Centred chunks in units of body size and node scale ``[B, M, V, 3]``: where augmentation acts."""
        scale = torch.tensor(self.node_scale, dtype=chunks.dtype)[:, None]
        body = centred(chunks, self.root) / self.sizes(chunks)
        return (body if self.facing is None else turned(body, turns(body, self.facing))) / scale

    def sizes(self, chunks: Tensor) -> Tensor:
        """What each sequence is divided by ``[B, 1, 1, 1]``."""
        if self.unit is not None:
            return torch.full((len(chunks), 1, 1, 1), self.unit, dtype=chunks.dtype)
        edges = torch.tensor(self.edges, dtype=torch.long).reshape(-1, 2)
        return body_size(chunks, edges, self.root)

    def signals(self, resized: Tensor, frames: Tensor | None = None) -> Tensor:
        """``[B, M, V, 3]`` from `resize` → ``[B, V, values]``; ``frames``: how many each sequence has."""
        lasting = None if self.duration is None else self._lasting(frames, *self.duration)
        if self.parts:
            return self._composed(resized, lasting)
        batch, count, joints, axes = resized.shape
        places = resized.permute(0, 2, 1, 3)
        flat = places.reshape(batch, joints, count * axes)
        if lasting is None:
            return flat
        steps = places.diff(dim=2).reshape(batch, joints, -1) * STEP
        return torch.cat([flat, steps, lasting.to(flat.dtype)[:, None, None].expand(-1, joints, 1)], dim=2)

    @staticmethod
    def _lasting(frames: Tensor | None, mean: float, deviation: float) -> Tensor:
        if frames is None:
            raise ConfigError("signals of motion need the number of frames of each sequence; none was given")
        return (frames.double().log() - mean) / deviation

    def _composed(self, resized: Tensor, lasting: Tensor | None) -> Tensor:
        body = resized * torch.tensor(self.node_scale, dtype=resized.dtype)[:, None]
        found = [resized]
        for part in self.parts[1:]:
            values = part_values(part.name, body, self.edges, self.root, lasting)
            if part.offset:
                values = values - torch.tensor(part.offset, dtype=values.dtype)[:, None]
            if part.scale:
                values = values / torch.tensor(part.scale, dtype=values.dtype)[:, None]
            found.append(values)
        signals: Tensor = torch.cat(found, dim=3).permute(0, 2, 1, 3).flatten(2)
        return signals

    def __call__(self, chunks: Tensor, frames: Tensor | None = None) -> Tensor:
        return self.signals(self.resize(chunks), frames)
