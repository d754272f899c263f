"""Values of unknown origin brought to the types of a sequence set, or refused with the rule they break."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError, printable
from bandstop.skeleton.in_space import in_space

__all__ = ["as_edges", "as_integers", "as_joints", "as_offsets", "as_texts"]


def as_joints(values: Any) -> NDArray[np.float32]:
    found = np.asarray(values)
    if found.ndim != 3 or found.shape[2] not in (2, 3) or found.shape[1] < 1 or found.dtype.kind not in "iuf":
        raise DataError(f"joints must be numbers [frames, V, 3], found shape {found.shape} of {found.dtype}")
    with np.errstate(over="ignore"):  # a value beyond float32 becomes inf, which describe reports
        return in_space(found).astype(np.float32, copy=False)


def as_offsets(values: Any, frames: int) -> NDArray[np.int64]:
    """Where sequences begin, and the end of the last: compared, not subtracted, for differences may wrap."""
    found = as_integers("offsets", values)
    rises = found.size and found[0] == 0 and found[-1] == frames and bool((found[1:] > found[:-1]).all())
    if not rises:
        raise DataError("offsets must rise from 0 to the number of frames, at least one frame a sequence")
    return found


def as_integers(field: str, values: Any) -> NDArray[np.int64]:
    found = np.asarray(values)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
        raise DataError(
            f"{field} must be a list of whole numbers, found shape {found.shape} of {found.dtype}"
        )
    if found.dtype.kind == "u" and found.size and found.max() > np.iinfo(np.int64).max:
        raise DataError(f"{field} must be whole numbers below 2^63, found {found.max()}")
    return found.astype(np.int64, copy=False)


def as_texts(field: str, values: Any) -> NDArray[np.str_]:
    found = np.asarray(values)
    if found.ndim != 1 or (found.dtype.kind not in "iuSU" and found.size):
        raise DataError(f"{field} must be a list of texts, found shape {found.shape} of {found.dtype}")
    if found.dtype.kind == "S":
        found = np.char.decode(found, "utf-8")
    return np.array([printable(str(text)) for text in found.tolist()], dtype=np.str_)


def as_edges(values: Any, nodes: int) -> NDArray[np.int64]:
    found = np.asarray(values)
    if found.size == 0:
        return np.zeros((0, 2), np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise DataError(
            f"edges must be pairs of joint indexes [E, 2], found shape {found.shape} of {found.dtype}"
        )
    if found.min() < 0 or found.max() >= nodes:
        raise DataError(f"edges must join joints 0 to {nodes - 1}, found {found.min()} to {found.max()}")
    return found.astype(np.int64, copy=False)
