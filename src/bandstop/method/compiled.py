"""Loops compiled by numba, cached on disk where that can be written; importing this module needs numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["compiled"]


def compiled(function: Callable[..., Any]) -> Any:
    """``function`` as machine code for one thread."""
    # NaN must stay NaN (indices stay valid and the loss shows it), hence not every fast-math flag.
    options: dict[str, Any] = {"nogil": True, "fastmath": {"contract", "reassoc", "arcp", "nsz"}}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to write a cache
        return numba.njit(**options)(function)
