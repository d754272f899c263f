"""Joints that were not seen: which they are, and filling them by interpolation over time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["DROP", "fill_gaps", "lost_joints", "missing_values"]


DROP = "--drop unusable leaves such sequences out"
"""What to do about a joint that cannot be repaired, in a verb that has this flag."""


def missing_values(joints: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which joints of frames [F, V, 3] were not seen: those not finite, and all of a frame of zeros.

    A single point (V = 1) may lie at the origin: there zeros are a place like any other.

    >>> missing_values(np.array([[[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [1, 1, np.nan]]], np.float32)).tolist()
    [[True, True], [False, True]]
    """
    missing: NDArray[np.bool_] = np.asarray(~np.isfinite(joints).all(axis=2))
    if joints.shape[1] > 1:
        missing |= (joints == 0).all(axis=(1, 2))[:, None]
    return missing


def lost_joints(
    joints: NDArray[np.float32],
    offsets: NDArray[np.int64],
    edges: NDArray[np.int64],
    never: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Which joints of which sequence [N, V] cannot be repaired: not finite or zero in every frame.

    Zero in every frame of every sequence is the origin of the coordinates and no loss; neither is a whole
    skeleton of zeros beside another one (the second person of a pair is not always there), nor a joint that
    is zero in a sequence of one frame, nor a single point. ``never``: which joints are known to be always
    zero, such as those that a model never saw; unless given, those that are in these very sequences.

    >>> frames = np.ones((4, 3, 3), np.float32)
    >>> frames[:2, 2] = np.nan
    >>> lost_joints(frames, np.array([0, 2, 4]), np.array([[0, 1], [1, 2]])).tolist()
    [[False, False, True], [False, False, False]]
    >>> frames[:, 2] = 0
    >>> lost_joints(frames, np.array([0, 4]), np.array([[0, 1], [1, 2]])).tolist()
    [[False, False, False]]
    >>> lost_joints(frames, np.array([0, 4]), np.array([[0, 1], [1, 2]]), np.zeros(3, bool)).tolist()
    [[False, False, True]]
    """
    if not len(joints):
        return np.zeros((0, joints.shape[1]), bool)
    starts = offsets[:-1]
    missing, zero = missing_values(joints), (joints == 0).all(axis=2)
    lost: NDArray[np.bool_] = np.logical_and.reduceat(missing, starts, axis=0)
    if joints.shape[1] == 1:
        return lost
    still = np.logical_and.reduceat(missing | zero, starts, axis=0)
    still &= (np.diff(offsets) > 1)[:, None] & ~(zero.all(axis=0) if never is None else never)
    for part in _components(joints.shape[1], edges):
        absent = still[:, part].all(axis=1) & ~still.all(axis=1)
        still[np.ix_(absent, part)] = False
    lost |= still
    return lost


def _components(nodes: int, edges: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The joints of each skeleton, if there are several; empty if there is one, or no bones are known."""
    part = np.arange(nodes)
    for a, b in edges.tolist():
        part[part == part[b]] = part[a]
    parts = [np.flatnonzero(part == name) for name in np.unique(part)]
    return parts if len(edges) and len(parts) > 1 and min(map(len, parts)) > 1 else []


def fill_gaps(sequence: NDArray[np.float32], missing: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Replace missing joints by the line between their neighbours in time; ends repeat the nearest one.

    ``sequence`` is [T, V, 3], ``missing`` [T, V]; every joint must be present in at least one frame.

    >>> x = np.array([1.0, np.nan, 3.0, np.nan], np.float32)[:, None, None] * np.ones((1, 1, 3), np.float32)
    >>> fill_gaps(x, np.isnan(x[:, :, 0]))[:, 0, 0].tolist()
    [1.0, 2.0, 3.0, 3.0]
    """
    frames, nodes = missing.shape
    time = np.broadcast_to(np.arange(frames)[:, None], missing.shape)
    before = np.maximum.accumulate(np.where(missing, -1, time), axis=0)
    after = np.minimum.accumulate(np.where(missing, frames, time)[::-1], axis=0)[::-1]
    left = np.where(before < 0, after, before)
    right = np.where(after >= frames, before, after)
    weight = (time - left) / np.maximum(right - left, 1)
    column = np.arange(nodes)[None, :]
    start, stop = sequence[left, column].astype(np.float64), sequence[right, column].astype(np.float64)
    filled: NDArray[np.float32] = (start + (stop - start) * weight[:, :, None]).astype(np.float32)
    return filled
