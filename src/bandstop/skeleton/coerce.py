"""Values of unknown origin brought to the types of a sequence set, or refused with the rule they break."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError

__all__ = ["as_edges", "as_integers", "as_joints", "as_texts", "printable"]


def as_joints(values: Any) -> NDArray[np.float32]:
    found = np.asarray(values)
    if found.ndim != 3 or found.shape[2] != 3 or found.shape[1] < 1 or found.dtype.kind not in "iuf":
        raise DataError(f"joints must be numbers [frames, V, 3], found shape {found.shape} of {found.dtype}")
    with np.errstate(over="ignore"):  # a value beyond float32 becomes inf, which describe reports
        return found.astype(np.float32, copy=False)


def as_integers(field: str, values: Any) -> NDArray[np.int64]:
    found = np.asarray(values)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
        raise DataError(
            f"{field} must be a list of whole numbers, found shape {found.shape} of {found.dtype}"
        )
    return found.astype(np.int64, copy=False)


def as_texts(field: str, values: Any) -> NDArray[np.str_]:
    found = np.asarray(values)
    if found.ndim != 1 or (found.dtype.kind not in "iuSU" and found.size):
        raise DataError(f"{field} must be a list of texts, found shape {found.shape} of {found.dtype}")
    if found.dtype.kind == "S":
        found = np.char.decode(found, "utf-8")
    return np.array([printable(str(text)) for text in found.tolist()], dtype=np.str_)


def printable(text: str) -> str:
    """Names come from foreign files and end on terminals: control characters and broken ones are escaped."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


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
