"""Filling gaps of a sequence by interpolation over time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["fill_gaps"]


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
