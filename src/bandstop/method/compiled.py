"""Loops compiled by numba, cached on disk where that can be written; importing this module needs numba."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numba

__all__ = ["array_at", "by_address", "compiled"]

array_at: Any = numba.carray  # type: ignore[attr-defined]
"""Inside a compiled loop: the array of a shape at an address."""

# NaN must stay NaN (indices stay valid and the loss shows it), hence not every fast-math flag.
_MATHS: Any = {"contract", "reassoc", "arcp", "nsz"}
_NUMBERS: dict[str, tuple[Any, Any]] = {
    "float32": (numba.float32, ctypes.c_float),
    "float64": (numba.float64, ctypes.c_double),
    "int32": (numba.int32, ctypes.c_int32),
    "int64": (numba.int64, ctypes.c_int64),
}


def compiled(function: Callable[..., Any]) -> Any:
    """``function`` as machine code for one thread."""
    options: dict[str, Any] = {"nogil": True, "fastmath": _MATHS}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to write a cache
        return numba.njit(**options)(function)


def by_address(*kinds: str) -> Callable[[Callable[..., Any]], Any]:
    """Compile a loop that gets arrays as addresses, ``tensor.data_ptr()``, and its kinds of arguments here.

    To hand an array over takes longer than a small layer's gate; an address takes a tenth of that. The first
    kind is what the loop returns, "void" for nothing; "float32**" is an array of addresses.

    >>> import torch
    >>> @by_address("float32", "float32*", "int64")
    ... def total(values, count):
    ...     found = values[0]
    ...     for i in range(1, count):
    ...         found += values[i]
    ...     return found
    >>> numbers = torch.tensor([1.0, 2.0, 4.0])
    >>> total(numbers.data_ptr(), 3)
    7.0
    """
    inside, outside = zip(*(_kind(name) for name in kinds), strict=True)
    signature, prototype = inside[0](*inside[1:]), ctypes.CFUNCTYPE(*outside)

    def compile_it(function: Callable[..., Any]) -> Any:
        try:
            made = numba.cfunc(signature, cache=True, fastmath=_MATHS)(function)
        except RuntimeError:  # nowhere to write a cache
            made = numba.cfunc(signature, fastmath=_MATHS)(function)
        called: Any = prototype(made.address)  # type: ignore[arg-type]
        called.made = made  # the code lives as long as this
        return called

    return compile_it


def _kind(name: str) -> tuple[Any, Any]:
    """What numba and what ctypes call a kind of argument."""
    if name == "void":
        return numba.void, None
    if name.endswith("*"):
        return numba.types.CPointer(_kind(name[:-1])[0]), ctypes.c_void_p  # type: ignore[no-untyped-call]
    return _NUMBERS[name]
