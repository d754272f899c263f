"""A stream recogniser as C or WebAssembly: the exported network, and a file that makes events of frames."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.run.toolchain import FAST, STRICT, compile_c, native_compiler, zig_compiler
from bandstop.errors import MissingExtra
from bandstop.live.event import Event
from bandstop.live.recogniser import LiveSettings

__all__ = ["NativeLive", "WasmLive", "live_texts", "live_wasm", "live_wasm_loader"]

_WASM = [
    "-target",
    "wasm32-freestanding",
    "-nostdlib",
    "-std=c99",
    "-s",
    "-ffp-contract=off",
    "-O3",
    "-msimd128",
    "-Wl,--no-entry",
    "-Wl,-z,stack-size=16384",
    "-Wl,--export-memory",
]


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


def _filled(template: str, name: str, **values: str) -> str:
    text = (resources.files("bandstop.live.templates") / template).read_text(encoding="utf-8")
    return Template(text).substitute(name=name, NAME=name.upper(), **values)


def live_texts(files: CFiles, settings: LiveSettings, joints: int) -> dict[str, str]:
    """All C files of a stream recogniser by name: the network's two, the stream's two and an example."""
    name, plan, rule = files.name, settings.plan, settings.rule
    header = _filled(
        "live.h",
        name,
        JOINTS=f"{joints}",
        LENGTH=f"{plan.length}",
        HOP=f"{plan.hop}",
        SMOOTH=f"{rule.smooth}",
        THRESHOLD=_c_float(rule.threshold),
    )
    source = _filled(
        "live.c",
        name,
        DURATIONS=", ".join(str(max(1, min(duration, 65535))) for duration in rule.durations),
        PER_TEMPERATURE=_c_float(1 / rule.temperature),
        RELEASE=_c_float(rule.release * rule.threshold),
        PATIENCE=f"{rule.patience}",
        LAG=f"{rule.lag}",
        REFRACTORY=f"{rule.refractory}",
    )
    return {
        f"{name}.h": files.header,
        f"{name}.c": files.source,
        f"{name}_live.h": header,
        f"{name}_live.c": source,
        "example/main.c": _filled("live_main.c", name),
    }


def _c_float(value: float) -> str:
    return f"{float(np.float32(value)):.9g}f" if value % 1 else f"{value:.1f}f"


def _write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def live_wasm(files: CFiles, texts: dict[str, str]) -> bytes:
    """A module without imports; `live_wasm_loader` has the JavaScript for it."""
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        folder, name = Path(made), files.name
        _write(folder, {**texts, "glue.c": _filled("live_wasm.c", name)})
        sources = [folder / f"{name}.c", folder / f"{name}_live.c", folder / "glue.c"]
        compile_c(zig_compiler(), [*_WASM, *sources, "-o", folder / "out.wasm"], what="making wasm")
        return (folder / "out.wasm").read_bytes()


def live_wasm_loader(name: str = "recogniser") -> str:
    """JavaScript that loads the module: ``(await load(url)).push(frame)``."""
    return _filled("live.js", name)


class NativeLive:
    """The C files compiled for this machine: how an export is checked."""

    def __init__(self, files: CFiles, texts: dict[str, str], *, flags: Sequence[str] = FAST) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bandstop-")
        folder, name = Path(self._folder.name), files.name
        _write(folder, texts)
        sources = [folder / f"{name}.c", folder / f"{name}_live.c"]
        library = folder / f"lib{name}_live.so"
        arguments: list[str | Path] = [*flags, *STRICT, "-fPIC", "-shared", *sources, "-o", library]
        compile_c(native_compiler(), arguments, what=f"compiling {name}_live.c")
        found = ctypes.CDLL(str(library))
        self._begin, self._push = found[f"{name}_live_begin"], found[f"{name}_live_push_frame"]
        # Room for any state: the ring, the signal and workspace are each far below a megabyte.
        self._state = ctypes.create_string_buffer(1 << 22)

    def events(self, frames: NDArray[np.floating[Any]]) -> list[Event]:
        """Events of a whole stream ``[T, V, 3]``."""
        rows, found, event = np.ascontiguousarray(frames, np.float32), [], _CEvent()
        self._begin(self._state)
        for row in rows:
            if self._push(self._state, ctypes.c_void_p(row.ctypes.data), ctypes.byref(event)):
                found.append(event.event())
        return found


class WasmLive:
    """The WebAssembly module run by the ``wasmtime`` package: how an export is checked."""

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
        wasm, store, found = self._exports, self._store, []
        wasm["live_begin"](store)
        place, answer = wasm["live_frame"](store), wasm["live_event"](store)
        for row in np.ascontiguousarray(frames, np.float32):
            wasm["memory"].write(store, row.tobytes(), place)
            if wasm["live_push_frame"](store):
                data = wasm["memory"].read(store, answer, answer + ctypes.sizeof(_CEvent))
                found.append(_CEvent.from_buffer_copy(bytes(data)).event())
        return found
