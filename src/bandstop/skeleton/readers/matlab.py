"""Numeric arrays of MATLAB 5 files, the format of `.mat` before 7.3, compressed or not.

Written out here because general readers of this format can be crashed by a few wrong bytes. A file is a
header of 128 bytes and then elements: a tag (type and size), the content, padding to 8 bytes; an array is
an element made of elements (flags, dimensions, name, values), and may come wrapped in one that is a zlib
stream.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.skeleton.limits import RAISE, allowed

__all__ = ["read_variable"]

_MOST_UNPACKED, _MOST_VARIABLES, _HEAD = 64 * 2**20, 10_000, 1024
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_COMPLEX = 0x0800


def read_variable(content: bytes, name: str) -> NDArray[Any] | None:
    """The real array ``name`` of a MATLAB 5 file, or None; ``ValueError`` if the file is broken.

    >>> read_variable(b"MATLAB 7.3 MAT-file" + bytes(200), "a")
    Traceback (most recent call last):
        ...
    ValueError: not a MATLAB 5 file
    """
    order = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}.get(content[124:128])
    if order is None:
        raise ValueError("not a MATLAB 5 file")
    for number, (kind, element) in enumerate(_elements(memoryview(content)[128:], order)):
        if number >= allowed(_MOST_VARIABLES):
            raise ValueError(f"it has more than {_MOST_VARIABLES:,} variables; {RAISE}")
        if kind == _COMPRESSED and _name_of_compressed(element, order) == name.encode("ascii"):
            kind, element = next(_elements(_inflated(element, _MOST_UNPACKED), order), (0, element))
        if kind == _MATRIX:
            array = _array_called(name, element, order)
            if array is not None:
                return array
    return None


def _name_of_compressed(element: memoryview, order: str) -> bytes | None:
    """The name of an array inside a zlib stream, of which only the beginning is unpacked."""
    start = _inflated(element, _HEAD, whole=False)
    if len(start) < 8 or struct.unpack(order + "I", start[:4])[0] != _MATRIX:
        return None
    parts = _elements(start[8:], order, cut=True)
    head = [next(parts, None) for _ in range(3)]
    return bytes(head[2][1]) if head[2] is not None else None


def _elements(content: memoryview, order: str, *, cut: bool = False) -> Iterator[tuple[int, memoryview]]:
    """Type and content of each element; one of up to four bytes has them inside its tag.

    ``cut``: the last one may be incomplete.
    """
    while len(content):
        if cut and len(content) < 8:
            return
        if len(content) < 8:
            raise ValueError("an element is cut off")
        kind, size = struct.unpack(order + "II", content[:8])
        if kind >> 16:
            kind, size, start, step = kind & 0xFFFF, kind >> 16, 4, 8
            if size > 4:
                raise ValueError("a small element has more than four bytes")
        else:
            start = 8
            step = start + size + (0 if kind == _COMPRESSED else -size % 8)
        if cut and start + size > len(content):
            return
        if start + size > len(content):
            raise ValueError("an element is cut off")
        yield kind, content[start : start + size]
        content = content[step:]


def _inflated(element: memoryview, most: int, *, whole: bool = True) -> memoryview:
    most = allowed(most) if whole else most
    try:
        unpacked = zlib.decompressobj().decompress(element, most)
    except zlib.error as problem:
        raise ValueError("a compressed element is damaged") from problem
    if whole and len(unpacked) == most:
        raise ValueError(f"an element unpacks to more than {most:,} bytes; {RAISE}")
    return memoryview(unpacked)


def _array_called(name: str, element: memoryview, order: str) -> NDArray[Any] | None:
    parts = _elements(element, order)
    head = [next(parts, None) for _ in range(3)]
    if head[0] is None or head[1] is None or head[2] is None or len(head[0][1]) != 8:
        raise ValueError("an array has no flags, dimensions or name")
    if bytes(head[2][1]) != name.encode("ascii"):
        return None
    (flags, _), shape = struct.unpack(order + "II", head[0][1]), _numbers(*head[1], order)
    number_class = _CLASSES.get(flags & 0xFF)
    if number_class is None or flags & _COMPLEX:
        raise ValueError(f"{name} is not an array of real numbers")
    values = next(parts, None)
    if values is None:
        raise ValueError(f"{name} has no values")
    flat, extents = _numbers(*values, order), shape.tolist()
    if not 2 <= len(extents) <= 8 or shape.dtype.kind not in "iu" or min(extents) < 0:
        raise ValueError(f"{name} has wrong dimensions")
    if math.prod(extents) != len(flat):
        raise ValueError(f"{name} has {len(flat)} values, which do not make its shape")
    if len(flat) * int(number_class[1]) > allowed(_MOST_UNPACKED):
        raise ValueError(f"{name} has {len(flat):,} values, too many for one sequence; {RAISE}")
    with np.errstate(all="ignore"):
        return flat.astype(number_class).reshape(extents, order="F")


def _numbers(kind: int, element: memoryview, order: str) -> NDArray[Any]:
    code = _NUMBERS.get(kind)
    if code is None or len(element) % int(code[1]):
        raise ValueError(f"an element of type {kind} does not hold numbers")
    return np.frombuffer(element, np.dtype(order + code))
