"""What a finished network is exported to, by name."""

from __future__ import annotations

from typing import Literal

__all__ = ["Format"]

Format = Literal["c", "arduino", "platformio", "cmake", "onnx", "wasm", "bytes"]
"""C99 source, Arduino library, PlatformIO or CMake project, ONNX file, WebAssembly module, or the smallest
file."""
