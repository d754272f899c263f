"""Which way a body faces: a frame of three joints, and the turn that makes the first chunk's canonical."""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

from bandstop.errors import ConfigError

__all__ = ["FLAT", "choose_facing", "turned", "turns"]

FLAT = 1e-3
"""In units of body size: where three joints lie closer to a line than this, nothing is turned."""

_MOST, _NOISE = 1000, 0.02


def turns(body: Tensor, facing: tuple[int, int]) -> Tensor:
    """Rotations ``[B, 3, 3]`` whose rows are the axes of the first chunk's frame.

    With p and q the places of the two joints from the root: ``x = p/|p|``, ``y = (q − (q·x)x)/|q − (q·x)x|``,
    ``z = x × y``. ``body``: places relative to the root, in units of body size ``[B, M, V, 3]``.

    >>> body = torch.tensor([[[[0.0, 0, 0], [0, 2, 0], [0, 1, 1]]]])
    >>> turns(body, (1, 2))[0].tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    p, q = (body[:, 0, joint] for joint in facing)
    long = p.norm(dim=1, keepdim=True)
    x = p / long.clamp(min=FLAT)
    beside = q - (q * x).sum(dim=1, keepdim=True) * x
    high = beside.norm(dim=1, keepdim=True)
    y = beside / high.clamp(min=FLAT)
    found = torch.stack([x, y, torch.linalg.cross(x, y)], dim=1)
    plain = (long <= FLAT) | (high <= FLAT)
    return torch.where(plain[:, :, None], torch.eye(3, dtype=body.dtype), found)


def turned(places: Tensor, turn: Tensor) -> Tensor:
    """Places ``[B, M, V, 3]`` seen along the axes of each sequence's frame."""
    return torch.einsum("bmvi,bji->bmvj", places, turn)


def choose_facing(body: Tensor, root: int) -> tuple[int, int]:
    """The two joints that make the steadiest frame with the root, measured on training chunks.

    A frame errs by about (how much the sides of its triangle change + noise) / (height of the triangle in
    the first chunk, that of one sequence in ten being lower). So the joints of a palm are taken before those
    of fingers, which move against it.

    >>> palm = torch.tensor([[0.0, 0, 0], [3, 0, 0], [3, 1, 0], [5, 0, 0]]).expand(9, 2, 4, 3).clone()
    >>> palm[:, :, 3] += torch.randn(9, 2, 3, generator=torch.Generator().manual_seed(0))
    >>> choose_facing(palm, root=0)
    (2, 1)
    """
    some = body[:: -(-len(body) // _MOST)].clone()
    some[:, :, root] = 0
    poses = some.flatten(0, 1)
    changes = torch.cdist(poses, poses).var(dim=0, correction=0)
    first, best = some[:, 0], (float("inf"), (0, 0))
    for pair in combinations([joint for joint in range(body.shape[2]) if joint != root], 2):
        p, q = (first[:, joint] for joint in pair)
        longest = torch.maximum(p.norm(dim=1), q.norm(dim=1)).clamp(min=FLAT)
        height = float((torch.linalg.cross(p, q).norm(dim=1) / longest).quantile(0.1))
        sides = changes[root, pair[0]] + changes[root, pair[1]] + changes[pair[0], pair[1]]
        if height > 10 * FLAT:
            one, other = pair if p.norm(dim=1).mean() >= q.norm(dim=1).mean() else pair[::-1]
            best = min(best, ((float(sides.sqrt()) + _NOISE) / height, (one, other)))
    if best[0] == float("inf"):
        raise ConfigError(
            "--normalise orientation needs three joints that do not lie in a line, and these recordings have "
            "none: leave orientation out"
        )
    return best[1]
