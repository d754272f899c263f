"""WebAssembly of the exported C, by the compiler in the ``ziglang`` package.

No run-time library, no imports.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.c.text import load_template
from bandstop.deploy.ir.program import Floats
from bandstop.deploy.run.toolchain import build, zig_compiler
from bandstop.errors import ExportError, MissingExtra
from bandstop.record.rejection import Answer

__all__ = ["WasmNetwork", "javascript", "javascript_of_frames", "to_wasm"]

_TEMPLATES = "bandstop.deploy.run.templates"


def to_wasm(files: CFiles, *, simd: bool = True, size: bool = False) -> bytes:
    """Compile the files to a module without imports."""
    glue = _filled("wasm_network.c", files)
    if f"{files.name}_begin" in files.header:
        glue += _filled("wasm_stream.c", files)
    if f"{files.name}_answer" in files.header:
        glue += _filled("wasm_answer.c", files)
    flags = ["-target", "wasm32-freestanding", "-nostdlib", "-std=c99", "-s", "-ffp-contract=off"]
    flags += ["-Wl,--no-entry", "-Oz" if size else "-O3", *(["-msimd128"] if simd and not size else [])]
    flags += ["-Wl,-z,stack-size=16384", "-Wl,--export-memory"]
    texts = {**files.texts, "glue.c": glue}
    made = build(texts, flags, output="out.wasm", what="making wasm", compiler=zig_compiler())
    return made.path.read_bytes()


def _filled(name: str, files: CFiles, **others: str) -> str:
    template = load_template(name, _TEMPLATES)
    values = {"name": files.name, "NAME": files.name.upper(), "number": files.number}
    return template.substitute(values, **others) + "\n"


def javascript(files: CFiles) -> str:
    """The loader's text."""
    return _filled("loader.js", files, frame=javascript_of_frames())


def javascript_of_frames() -> str:
    """The function of every loader that takes the frames it is given, or refuses one of another length."""
    return load_template("frame.js", _TEMPLATES).substitute()


class WasmNetwork:
    """A module run by the ``wasmtime`` package: how an export to WebAssembly is checked."""

    def __init__(self, module: bytes, files: CFiles) -> None:
        try:
            import wasmtime
        except ImportError:
            raise MissingExtra("wasmtime", extra="deploy") from None
        self._store, self._files = wasmtime.Store(), files
        instance = wasmtime.Instance(self._store, wasmtime.Module(self._store.engine, module), [])
        self._exports: Any = instance.exports(self._store)

    def _call(self, verb: str, *arguments: int) -> int:
        answer = self._exports[verb](self._store, *arguments)
        return 0 if answer is None else int(answer)

    def _write(self, verb: str, values: NDArray[np.generic]) -> None:
        self._exports["memory"].write(self._store, values.tobytes(), self._call(verb))

    def _scores(self) -> Floats:
        start = self._call("scores")
        data = self._exports["memory"].read(self._store, start, start + 4 * self._files.program.classes)
        return np.frombuffer(bytes(data), "<f4").copy()

    def network(self, inputs: Floats) -> Floats:
        """Scores ``[N, classes]`` of network inputs."""
        found = []
        for row in self._files.encode(inputs):
            self._write("signal", row)
            self._call("network")
            found.append(self._scores())
        return np.stack(found)

    def answers(self, scores: Floats) -> list[Answer]:
        """What rows of scores say, none of these too."""
        found = []
        for row in np.asarray(scores, np.float32):
            self._write("scores", row)
            label = self._call("answer")
            found.append(Answer(label, float(self._exports["confidence"](self._store))))
        return found

    def stream(self, frames: Floats, *, length: int | None = None) -> tuple[int, Floats]:
        """``(answer, scores)`` for raw joints ``[T, V, 3]``."""
        if self._call("begin", len(frames) if length is None else length) < 0:
            raise ExportError(f"the module refuses a sequence of {len(frames)} frames")
        for frame in np.asarray(frames, np.float32):
            self._write("frame", frame)
            self._call("push_frame")
        answer = self._call("classify")
        return answer, self._scores()
