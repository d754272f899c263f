"""Frames of x and y beside those of x, y, z: a network that was trained on the former has seen z = 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandstop.errors import DataError

__all__ = ["in_space", "raw_frames"]


def in_space(values: NDArray[Any]) -> NDArray[Any]:
    """``[…, 3]`` as it is, ``[…, 2]`` in the plane z = 0.

    >>> in_space(np.ones((1, 2, 2))).tolist()
    [[[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]]
    """
    flat = values.shape[-1] == 2
    return np.concatenate([values, np.zeros_like(values[..., :1])], axis=-1) if flat else values


def raw_frames(values: ArrayLike, joints: int, what: str) -> NDArray[Any]:
    """Frames ``[T, joints, 3]`` of what a program gives to a model; ``what`` names it where it is refused.

    >>> raw_frames(np.ones((4, 21, 2)), 21, "sequence 0").shape
    (4, 21, 3)
    >>> raw_frames(np.ones((4, 21, 4)), 21, "sequence 0")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    bandstop.errors.DataError: sequence 0 must have shape [frames, 21, 3] as in training (or ...
    """
    found = np.asarray(values)
    if found.ndim != 3 or found.shape[1] != joints or found.shape[2] not in (2, 3) or not len(found):
        rule = f"[frames, {joints}, 3] as in training (or [frames, {joints}, 2], in the plane z = 0)"
        raise DataError(f"{what} must have shape {rule}, found {list(found.shape)}")
    return in_space(found)
