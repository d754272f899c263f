"""Keeping freed memory: a training step frees and asks for the same large buffers again and again."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's M_TRIM_THRESHOLD and M_MMAP_THRESHOLD


@cache
def keep_freed_memory(up_to: int = 2**30) -> bool:
    """Ask glibc not to give buffers below ``up_to`` bytes back to the system; says whether that was possible.

    Every page given back has to be mapped and cleared again at the next step, which on small machines takes
    as long as the arithmetic itself. Results do not change.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another C library
        return False
    return bool(mallopt(_MMAP_THRESHOLD, up_to)) and bool(mallopt(_TRIM_THRESHOLD, up_to))
