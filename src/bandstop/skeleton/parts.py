"""Parts of a signal by name: what a network sees of each joint in each chunk.

Parts compose (``places+steps+distances``). Each is computed from places in units of body size, so a device
that has normalised places can compute the others from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bandstop.errors import ConfigError

__all__ = ["LAGS", "Part", "bone_starts", "distance_ends", "moment_line", "part_values"]

LAGS = {"steps": 1, "slow": 4}
"""Parts that say how far a joint has come since this many chunks ago."""

Edges = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Part:
    """A part as measured on training chunks: joint v has the values ``(part − offset[v]) / scale[v]``."""

    name: str
    scale: tuple[float, ...] = ()
    """Without one: one for every joint."""
    offset: tuple[float, ...] = ()
    """Without one: zero for every joint."""

    @staticmethod
    def fit(name: str, values: Tensor) -> Part:
        """Measured on ``values`` ``[B, M, V, axes]``: the RMS; of distances the deviation from their mean.

        >>> Part.fit("distances", torch.tensor([1.0, 3.0]).reshape(2, 1, 1, 1))
        Part(name='distances', scale=(1.0,), offset=(2.0,))
        """
        mean = values.mean(dim=(0, 1, 3)) if name == "distances" else torch.zeros(values.shape[2])
        rms = (values - mean[:, None]).square().mean(dim=(0, 1, 3)).sqrt()
        # A joint whose values never change is not divided: rounding would blow up.
        scale = tuple(_rounded(r) if r > 1e-5 else 1.0 for r in rms.tolist())
        return Part(name, scale, tuple(map(_rounded, mean.tolist())) if name == "distances" else ())


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def bone_starts(edges: Edges, joints: int, root: int) -> list[int]:
    """The joint before each on the way from the root; the root and what it does not reach have themselves.

    >>> bone_starts([(1, 0), (1, 2)], joints=4, root=0)
    [0, 0, 1, 3]
    """
    before, reached = list(range(joints)), [root]
    for joint in reached:
        for ends in edges:
            if joint in ends:
                other = ends[1] if ends[0] == joint else ends[0]
                if other not in reached:
                    before[other] = joint
                    reached.append(other)
    return before


def distance_ends(edges: Edges, joints: int, root: int) -> list[int]:
    """The joint to which each one's distance is measured: from tip to tip, and from others to the root.

    A tip is a joint other than the root with one bone; the last one's distance is to the first. A joint that
    has itself has the length of its place: for the root the way from its mean, for others that to the root.

    >>> distance_ends([(0, 1), (1, 2), (1, 3)], joints=4, root=0)
    [0, 1, 3, 2]
    """
    bones = [sum(joint in ends for ends in edges) for joint in range(joints)]
    tips = [joint for joint in range(joints) if bones[joint] == 1 and joint != root]
    found = list(range(joints))
    if len(tips) > 1:
        for tip, following in zip(tips, [*tips[1:], tips[0]], strict=True):
            found[tip] = following
    return found


def moment_line(chunks: int) -> tuple[float, float]:
    """Slope a and offset b of the part ``moment``, ``a·m − b``: from −√3 to √3, so that its RMS is about one.

    >>> slope, offset = moment_line(5)
    >>> [round(slope * m - offset, 3) for m in range(5)]
    [-1.732, -0.866, 0.0, 0.866, 1.732]
    """
    return (0.0, 0.0) if chunks == 1 else (2 * math.sqrt(3) / (chunks - 1), math.sqrt(3))


def part_values(name: str, body: Tensor, edges: Edges, root: int, lasting: Tensor | None) -> Tensor:
    """A part ``[B, M, V, axes]`` of places ``body`` ``[B, M, V, 3]`` in units of body size, not yet scaled.

    ``lasting``: the normalised duration of each sequence, for the part of that name.

    >>> part_values("steps", torch.arange(6.0).reshape(1, 2, 1, 3), [], 0, None).flatten().tolist()
    [0.0, 0.0, 0.0, 3.0, 3.0, 3.0]
    """
    count, joints = body.shape[1], body.shape[2]
    if name in LAGS:
        lag = min(LAGS[name], count)
        return torch.cat([torch.zeros_like(body[:, :lag]), body[:, lag:] - body[:, : count - lag]], dim=1)
    if name == "bones":
        return body - _without_own(body, bone_starts(edges, joints, root))
    if name == "distances":
        apart = body - _without_own(body, distance_ends(edges, joints, root))
        # Not .sqrt(): that is a library's vector function, whose last bit depends on the processor.
        lengths: Tensor = torch.linalg.vector_norm(apart, dim=-1, keepdim=True)
        return lengths
    if name == "moment":
        slope, offset = moment_line(count)
        moments = torch.arange(count, dtype=body.dtype) * slope - offset
        return moments[:, None, None].expand(len(body), -1, joints, 1)
    if name == "duration":
        if lasting is None:
            raise ConfigError("a signal of durations needs the frames of each sequence; none were given")
        return lasting.to(body.dtype)[:, None, None, None].expand(-1, count, joints, 1)
    return body


def _without_own(body: Tensor, ends: list[int]) -> Tensor:
    """Places of the joints ``ends``; zero where that is the joint itself."""
    other = torch.tensor([end != joint for joint, end in enumerate(ends)], dtype=body.dtype)
    return body[:, :, ends] * other[:, None]
