"""Where to draw each joint: a mean pose seen from its widest side or, without one, a layout of the bones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bandstop.report.weights import Weights

__all__ = ["flat_positions"]

_LOOSE, _STRETCH = 0.02, 1.4
"""How much distances between limbs count against those along a limb, and how far limbs are spread."""


def flat_positions(weights: Weights, joints: int) -> NDArray[np.float64]:
    """Joint positions ``[V, 2]`` in a unit square around 0, root below (or head above, where one is named).

    >>> flat_positions(Weights(edges=((0, 1), (1, 2))), 3).shape
    (3, 2)
    """
    if weights.pose is not None:
        flat = _unfolded(weights.pose, weights.edges, weights.root)
    elif weights.edges:
        apart = _hops(weights.edges, joints)
        flat = _settled(_circle(joints) * apart.max() / 2, apart, 1 / np.where(apart > 0, apart, np.inf) ** 2)
    else:
        flat = _circle(joints)
    return _framed(_upright(flat, weights))


def _widest_view(pose: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project on the two directions of largest spread, without mirroring."""
    centred = pose - pose.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=True)
    if axes[2, np.abs(axes[2]).argmax()] < 0:
        axes[2] *= -1
    if np.linalg.det(axes) < 0:
        axes[0] *= -1
    return np.asarray(centred @ axes[:2].T)


def _unfolded(pose: NDArray[np.float64], edges: Sequence[tuple[int, int]], root: int) -> NDArray[np.float64]:
    """The widest view with limbs stretched and spread: a mean hand is half closed and would hide its fingers.

    Joints of one limb are as far apart as the bones between them are long, others loosely by their distance.
    """
    apart = _STRETCH * np.linalg.norm(pose[:, None] - pose[None], axis=-1)
    weight = _LOOSE / np.where(apart > 0, apart, np.inf) ** 2
    for limb in _limbs(edges, len(pose), root):
        steps = np.linalg.norm(np.diff(pose[limb], axis=0), axis=1)
        reached = np.concatenate([[0.0], np.cumsum(steps)])
        along = np.abs(reached[:, None] - reached[None])
        block = np.ix_(limb, limb)
        apart[block] = along
        weight[block] = 1 / np.where(along > 0, along, np.inf) ** 2
    return _settled(_widest_view(pose), apart, weight)


def _limbs(edges: Sequence[tuple[int, int]], joints: int, root: int) -> list[list[int]]:
    """Every path of bones from the root (or, in a part without it, from its first joint) out to a tip."""
    neighbours: dict[int, list[int]] = {joint: [] for joint in range(joints)}
    for one, other in edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    seen: set[int] = set()
    limbs = []
    for start in [root, *range(joints)]:
        if start in seen:
            continue
        seen.add(start)
        paths = [[start]]
        while paths:
            path = paths.pop(0)
            onward = [joint for joint in neighbours[path[-1]] if joint not in seen]
            seen.update(onward)
            paths += [[*path, joint] for joint in onward]
            if not onward:
                limbs.append(path)
    return limbs


def _upright(flat: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """Rotate so that the body stands on its root; with a named head, so that the head is up."""
    heads = [place for place, name in enumerate(weights.joint_names) if "head" in name.lower()]
    centre = flat.mean(axis=0)
    up = flat[heads].mean(axis=0) - centre if heads else centre - flat[weights.root]
    length = float(np.hypot(*up))
    if length < 1e-9:
        return flat
    x, y = up / length
    return np.asarray((flat - centre) @ np.array([[y, x], [-x, y]]))


def _framed(flat: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = flat.min(axis=0), flat.max(axis=0)
    scale = float((high - low).max()) or 1.0
    return np.asarray((flat - (low + high) / 2) / scale)


def _circle(joints: int) -> NDArray[np.float64]:
    turn = 2 * np.pi * np.arange(joints) / max(joints, 1)
    return np.stack([np.sin(turn), -np.cos(turn)], axis=1)


def _hops(edges: Sequence[tuple[int, int]], joints: int) -> NDArray[np.float64]:
    """Bones between every two joints; parts that do not touch stand further apart than either is long."""
    apart = np.full((joints, joints), np.inf)
    np.fill_diagonal(apart, 0)
    for one, other in edges:
        if one != other:
            apart[one, other] = apart[other, one] = 1
    for middle in range(joints):
        apart = np.minimum(apart, apart[:, middle, None] + apart[None, middle])
    finite = apart[np.isfinite(apart)]
    return np.where(np.isfinite(apart), apart, finite.max() + 2)


def _settled(
    flat: NDArray[np.float64], apart: NDArray[np.float64], weight: NDArray[np.float64], rounds: int = 200
) -> NDArray[np.float64]:
    """Stress majorisation: lower ``Σ w_ij (|x_i − x_j| − d_ij)²`` from a given start, without chance."""
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    for _ in range(rounds):
        difference = flat[:, None] - flat[None]
        ratio = weight * apart / np.maximum(np.linalg.norm(difference, axis=-1), 1e-9)
        flat = inverse @ (ratio[:, :, None] * difference).sum(axis=1)
    return np.asarray(flat)
