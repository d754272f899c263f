"""A pickle reader that builds plain values and numeric arrays and nothing else.

A pickle is a program. Here it runs with only the opcodes that plain values need, and with stand-ins for the
few functions by which numpy stores arrays: numpy itself is never handed foreign state (a crafted ``dtype``
makes it take raw bytes for objects), and no other name can be looked up. It derives from Python's own
unpickler rather than the C one, whose memo takes any amount of memory at the wish of a single opcode.
"""

from __future__ import annotations

import math
import pickle
import re
import struct
from collections.abc import Callable
from typing import Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["RefusedError", "StoredArray", "unpickle"]

_OPCODES = """
    PROTO STOP FRAME MARK POP POP_MARK NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4
    FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 UNICODE BINUNICODE
    SHORT_BINUNICODE BINUNICODE8 TUPLE EMPTY_TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_LIST LIST APPEND APPENDS
    EMPTY_DICT GET BINGET LONG_BINGET PUT BINPUT LONG_BINPUT MEMOIZE GLOBAL STACK_GLOBAL
"""

_PLAIN_DTYPE = re.compile(r"b1|[iu][1248]|f[248]|[SU][1-9]\d{0,3}", re.ASCII)


class RefusedError(Exception):
    """The pickle asks for something that is neither a plain value nor a numeric array."""


def unpickle(stream: BinaryIO) -> Any:
    """The value of a pickle made of plain values and numeric arrays (:class:`StoredArray`, or numpy's own).

    >>> import io
    >>> unpickle(io.BytesIO(pickle.dumps({"keypoint": np.ones((1, 2), np.float16)})))["keypoint"].value
    array([[1., 1.]], dtype=float16)
    >>> unpickle(io.BytesIO(pickle.dumps(len)))
    Traceback (most recent call last):
        ...
    bandstop.skeleton.readers.unpickle.RefusedError: builtins.len is not allowed in a data file
    """
    return _Unpickler(_Bounded(stream)).load()


class _Bounded:
    """A stream that is never asked for more than it has: Python makes room for all that is asked, first."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.size = stream.seek(0, 2)
        stream.seek(0)

    def read(self, size: int) -> bytes:
        return self.stream.read(min(size, self.size))

    def readline(self) -> bytes:
        return self.stream.readline()


class StoredArray:
    """An array whose content arrives after its creation: ``value`` is None until then."""

    value: NDArray[Any] | None = None

    def restore(self, state: Any) -> None:
        """Take (version, shape, dtype, whether columns come first, bytes)."""
        if type(state) is not tuple or len(state) != 5:
            raise RefusedError("the state of an array must have five parts")
        _, shape, dtype, fortran, content = state
        self.value = _from_bytes(content, dtype, shape, "F" if fortran else "C")


class _Dtype:
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
    if type(content) is not bytes or type(dtype) is not _Dtype or type(order) is not str or order not in "CF":
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


def _dtype(code: Any, *_: Any) -> _Dtype:
    return _Dtype(code)


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


_ALLOWED: dict[str, Callable[..., Any]] = {
    **{f"numpy.{core}.multiarray._reconstruct": _reconstruct for core in ("core", "_core")},
    **{f"numpy.{core}.multiarray.scalar": _scalar for core in ("core", "_core")},
    **{f"numpy.{core}.numeric._frombuffer": _from_bytes for core in ("core", "_core")},
    "numpy.ndarray": _not_callable,
    "numpy.dtype": _dtype,
    "_codecs.encode": _latin1,
    "__builtin__.bytes": _no_bytes,
}


class _Dispatch(dict[int, Callable[..., None]]):
    def __missing__(self, opcode: int) -> Callable[..., None]:
        raise RefusedError(f"opcode {bytes([opcode])!r} is not allowed in a data file")


class _Unpickler(pickle._Unpickler):
    stack: list[Any]
    append: Callable[[Any], None]
    read: Callable[[int], bytes]
    pop_mark: Callable[[], list[Any]]

    dispatch: ClassVar[_Dispatch] = _Dispatch(
        {
            getattr(pickle, name)[0]: pickle._Unpickler.dispatch[getattr(pickle, name)[0]]
            for name in _OPCODES.split()
        }
    )

    def find_class(self, module: str, name: str) -> Any:
        found = _ALLOWED.get(f"{module}.{name}")
        if found is None:
            raise RefusedError(f"{f'{module}.{name}':.60} is not allowed in a data file")
        return found

    def load_reduce(self) -> None:
        arguments, function = self.stack.pop(), self.stack[-1]
        if type(arguments) is not tuple or not any(function is known for known in _ALLOWED.values()):
            raise RefusedError("only arrays may be rebuilt in a data file")
        self.stack[-1] = function(*arguments)

    def load_build(self) -> None:
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is not StoredArray and type(target) is not _Dtype:
            raise RefusedError("only arrays may have a state in a data file")
        target.restore(state)

    def load_bytearray8(self) -> None:
        # As bytes: an array's content never changes, and the base class allocates before it reads.
        (size,) = struct.unpack("<Q", self.read(8))
        self.append(self.read(size))

    def _set_items(self, target: Any, items: list[Any]) -> None:
        # Keys of other types could be tuples nested so deep that hashing them overflows the stack.
        if (
            type(target) is not dict
            or len(items) % 2
            or any(type(key) not in (str, int) for key in items[::2])
        ):
            raise RefusedError("a dictionary's keys must be texts or whole numbers")
        target.update(zip(items[::2], items[1::2], strict=True))

    def load_setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._set_items(self.stack[-1], [key, value])

    def load_setitems(self) -> None:
        items = self.pop_mark()
        self._set_items(self.stack[-1], items)

    def load_dict(self) -> None:
        items = self.pop_mark()
        self.append({})
        self._set_items(self.stack[-1], items)

    for _code, _load in {
        pickle.REDUCE: load_reduce,
        pickle.BUILD: load_build,
        pickle.BYTEARRAY8: load_bytearray8,
        pickle.SETITEM: load_setitem,
        pickle.SETITEMS: load_setitems,
        pickle.DICT: load_dict,
    }.items():
        dispatch[_code[0]] = _load
