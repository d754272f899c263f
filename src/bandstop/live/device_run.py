"""An exported stream recogniser run from Python: how an export is checked."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.run.toolchain import FAST, STRICT, compile_c, native_compiler
from bandstop.errors import MissingExtra
from bandstop.live.device import write_texts
from bandstop.live.event import Event

__all__ = ["NativeLive", "WasmLive"]

Floats = NDArray[np.float32]
_PROBE = """#include "{name}_live.h"
const float *{name}_live_scores(const {name}_live *s);
const float *{name}_live_scores(const {name}_live *s) {{ return s->scores; }}
uint32_t {name}_live_looks(const {name}_live *s);
uint32_t {name}_live_looks(const {name}_live *s) {{ return s->looks; }}
"""


class _CEvent(ctypes.Structure):
    _fields_ = (
        ("begin", ctypes.c_uint32),
        ("end", ctypes.c_uint32),
        ("at", ctypes.c_uint32),
        ("label", ctypes.c_int32),
        ("confidence", ctypes.c_float),
    )

    def event(self) -> Event:
        return Event(self.begin, self.end, self.label, self.confidence, self.at)


class NativeLive:
    """The C files compiled for this machine."""

    def __init__(self, files: CFiles, texts: dict[str, str], *, flags: Sequence[str] = FAST) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bandstop-")
        folder, name = Path(self._folder.name), files.name
        write_texts(folder, {**texts, "probe.c": _PROBE.format(name=name)})
        sources = [folder / f"{name}.c", folder / f"{name}_live.c", folder / "probe.c"]
        library = folder / f"lib{name}_live.so"
        arguments: list[str | Path] = [*flags, *STRICT, "-fPIC", "-shared", *sources, "-o", library]
        compile_c(native_compiler(), arguments, what=f"compiling {name}_live.c")
        found = ctypes.CDLL(str(library))
        self._begin, self._push = found[f"{name}_live_begin"], found[f"{name}_live_push_frame"]
        self._looks, self._scores = found[f"{name}_live_looks"], found[f"{name}_live_scores"]
        self._scores.restype = ctypes.POINTER(ctypes.c_float)
        self._classes = files.program.classes
        # Room for any state: the sums, the signal and workspace are each far below a megabyte.
        self._state = ctypes.create_string_buffer(1 << 22)

    def events(self, frames: NDArray[np.floating[Any]]) -> list[Event]:
        """Events of a whole stream ``[T, V, 3]``."""
        return self.traced(frames)[0]

    def traced(self, frames: NDArray[np.floating[Any]]) -> tuple[list[Event], Floats]:
        """Events of a whole stream, and the class scores ``[looks, classes]`` behind them."""
        rows, found, event = np.ascontiguousarray(frames, np.float32), [], _CEvent()
        scores: list[list[float]] = []
        self._begin(self._state)
        for row in rows:
            if self._push(self._state, ctypes.c_void_p(row.ctypes.data), ctypes.byref(event)):
                found.append(event.event())
            if self._looks(self._state) > len(scores):
                scores.append(self._scores(self._state)[: self._classes])
        return found, np.array(scores, np.float32).reshape(-1, self._classes)


class WasmLive:
    """The WebAssembly module run by the ``wasmtime`` package."""

    def __init__(self, module: bytes) -> None:
        try:
            import wasmtime
        except ImportError:
            raise MissingExtra("wasmtime", extra="deploy") from None
        self._store = wasmtime.Store()
        instance = wasmtime.Instance(self._store, wasmtime.Module(self._store.engine, module), [])
        self._exports: Any = instance.exports(self._store)

    def events(self, frames: NDArray[np.floating[Any]]) -> list[Event]:
        """Events of a whole stream ``[T, V, 3]``."""
        return self.traced(frames)[0]

    def traced(self, frames: NDArray[np.floating[Any]]) -> tuple[list[Event], Floats]:
        """Events of a whole stream, and the class scores ``[looks, classes]`` behind them."""
        wasm, store, found = self._exports, self._store, []
        wasm["live_begin"](store)
        place, answer, at = (wasm[f"live_{what}"](store) for what in ("frame", "event", "scores"))
        classes: int = wasm["classes"](store)
        scores: list[Floats] = []
        for row in np.ascontiguousarray(frames, np.float32):
            wasm["memory"].write(store, row.tobytes(), place)
            if wasm["live_push_frame"](store):
                data = wasm["memory"].read(store, answer, answer + ctypes.sizeof(_CEvent))
                found.append(_CEvent.from_buffer_copy(bytes(data)).event())
            if wasm["live_looks"](store) > len(scores):
                scores.append(np.frombuffer(bytes(wasm["memory"].read(store, at, at + 4 * classes)), "<f4"))
        return found, np.array(scores, np.float32).reshape(-1, classes)
