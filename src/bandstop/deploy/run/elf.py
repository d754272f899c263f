"""What a linked image takes of flash and of RAM, read from its section table."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from bandstop.errors import ExportError

__all__ = ["Footprint", "footprint"]

ALLOCATED, WRITABLE, EMPTY = 2, 1, 8


@dataclass(frozen=True)
class Footprint:
    """Bytes of code and constants (flash) and of variables (RAM); ``stack`` where it was measured, not part of ``ram``."""

    flash: int
    ram: int
    stack: int = 0


def footprint(image: bytes) -> Footprint:
    """Sizes of a 32-bit little-endian ELF image; initialised variables count in both."""
    if image[:6] != b"\x7fELF\x01\x01":
        raise ExportError("expected a 32-bit little-endian ELF image")
    offset = struct.unpack_from("<I", image, 32)[0]
    size, count = struct.unpack_from("<HH", image, 46)
    flash = ram = 0
    for number in range(count):
        _, kind, flags, _, _, length = struct.unpack_from("<6I", image, offset + number * size)
        if flags & ALLOCATED:
            flash += 0 if kind == EMPTY else length
            ram += length if flags & WRITABLE else 0
    return Footprint(flash, ram)
