"""Stand-ins for the few functions by which numpy stores arrays in a pickle."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["STAND_INS", "Dtype", "RefusedError", "StoredArray"]

_PLAIN_DTYPE = re.compile(r"b1|[iu][1248]|f[248]|[SU][1-9]\d{0,3}", re.ASCII)


class RefusedError(Exception):
    """The pickle asks for something that is neither a plain value nor a numeric array."""


class StoredArray:
    """An array whose content arrives after its creation: ``value`` is None until then."""

    value: NDArray[Any] | None = None

    def restore(self, state: Any) -> None:
        """Take (version, shape, dtype, whether columns come first, bytes)."""
        if type(state) is not tuple or len(state) != 5:
            raise RefusedError("the state of an array must have five parts")
        _, shape, dtype, fortran, content = state
        self.value = _from_bytes(content, dtype, shape, "F" if fortran else "C")


class Dtype:
    """A number type: a code such as ``f4``, then its byte order."""

    def __init__(self, code: Any) -> None:
        if type(code) is not str or not _PLAIN_DTYPE.fullmatch(code):
            raise RefusedError(f"an array of {code!a:.40} is not allowed in a data file")
        self.value = np.dtype(code)

    def restore(self, state: Any) -> None:
        order = state[1] if type(state) is tuple and len(state) > 1 else None
        if order != "<" and order != ">" and order != "=" and order != "|":
            raise RefusedError("the state of a number type must hold its byte order")
        self.value = self.value.newbyteorder(order)


def _from_bytes(content: Any, dtype: Any, shape: Any, order: Any) -> NDArray[Any]:
    if type(content) is not bytes or type(dtype) is not Dtype or type(order) is not str or order not in "CF":
        raise RefusedError("an array must be made of bytes and a number type")
    if type(shape) is not tuple or len(shape) > 8 or any(type(n) is not int or n < 0 for n in shape):
        raise RefusedError("the shape of an array must be a few whole numbers")
    if math.prod(shape) * dtype.value.itemsize != len(content):
        raise RefusedError(
            f"an array of shape {shape} and type {dtype.value} cannot have {len(content)} bytes"
        )
    return np.frombuffer(content, dtype.value).reshape(shape, order="F" if order == "F" else "C")


def _reconstruct(*_: Any) -> StoredArray:
    return StoredArray()


def _scalar(dtype: Any, content: Any) -> Any:
    return _from_bytes(content, dtype, (), "C").item()


def _dtype(code: Any, *_: Any) -> Dtype:
    return Dtype(code)


def _latin1(text: Any, encoding: Any) -> bytes:
    """Bytes as protocols 0 to 2 store them."""
    if type(text) is not str or encoding != "latin1":
        raise RefusedError("bytes must be stored as latin1")
    return text.encode("latin1")


def _no_bytes() -> bytes:
    """Empty bytes as protocols 0 to 2 store them."""
    return b""


def _not_callable(*_: Any) -> None:
    raise RefusedError("an array must not be made by calling its class")


STAND_INS: dict[str, Callable[..., Any]] = {
    **{f"numpy.{core}.multiarray._reconstruct": _reconstruct for core in ("core", "_core")},
    **{f"numpy.{core}.multiarray.scalar": _scalar for core in ("core", "_core")},
    **{f"numpy.{core}.numeric._frombuffer": _from_bytes for core in ("core", "_core")},
    "numpy.ndarray": _not_callable,
    "numpy.dtype": _dtype,
    "_codecs.encode": _latin1,
    "__builtin__.bytes": _no_bytes,
}
