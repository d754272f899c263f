"""WebAssembly of the exported C, by the compiler in the ``ziglang`` package; no run-time library, no imports."""

from __future__ import annotations

import tempfile
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.run.toolchain import compile_c, zig_compiler
from bandstop.errors import ExportError, MissingExtra

__all__ = ["WasmNetwork", "javascript", "to_wasm"]

Floats = NDArray[np.float32]

GLUE = Template("""#include "${name}.h"
#define OUT(n) __attribute__((export_name(n)))
static float scores[${NAME}_CLASSES];
OUT("scores") float *get_scores(void);
OUT("scores") float *get_scores(void) { return scores; }
OUT("classes") int get_classes(void);
OUT("classes") int get_classes(void) { return ${NAME}_CLASSES; }
OUT("class_name") const char *get_name(int i);
OUT("class_name") const char *get_name(int i) { return i >= 0 && i < ${NAME}_CLASSES ? ${name}_class_names[i] : ""; }
""")

STREAM_GLUE = Template("""static ${name} state;
static float joints[3 * ${NAME}_JOINTS];
OUT("frame") float *get_frame(void);
OUT("frame") float *get_frame(void) { return joints; }
OUT("values") int get_values(void);
OUT("values") int get_values(void) { return 3 * ${NAME}_JOINTS; }
OUT("begin") int begin(unsigned length);
OUT("begin") int begin(unsigned length) { return ${name}_begin(&state, length); }
OUT("push_frame") int push(void);
OUT("push_frame") int push(void) { return ${name}_push_frame(&state, joints); }
OUT("classify") int classify(void);
OUT("classify") int classify(void) { return ${name}_classify(&state, scores); }
""")

NETWORK_GLUE = Template("""static ${number} signal[${NAME}_SIGNAL], work[${NAME}_WORK];
OUT("signal") ${number} *get_signal(void);
OUT("signal") ${number} *get_signal(void) { return signal; }
OUT("network") void network(void);
OUT("network") void network(void) { ${name}_network(signal, scores, work); }
""")

LOADER = Template("""// const r = await load("${name}.wasm"); r.classify(frames) -> {index, name, scores}; frames: arrays of x, y, z per joint
export async function load(source) {
  const bytes = typeof source === "string" ? await (await fetch(source)).arrayBuffer() : source;
  const { instance: { exports: wasm } } = await WebAssembly.instantiate(bytes, {});
  const floats = (at, count) => new Float32Array(wasm.memory.buffer, at, count);
  const text = (at) => {
    const all = new Uint8Array(wasm.memory.buffer, at);
    return new TextDecoder().decode(all.slice(0, all.indexOf(0)));
  };
  const names = Array.from({ length: wasm.classes() }, (_, i) => text(wasm.class_name(i)));
  const push = (frame) => { floats(wasm.frame(), wasm.values()).set(frame); return wasm.push_frame(); };
  const answer = () => {
    const index = wasm.classify(); // negative: no answer, see the codes in ${name}.h
    return { index, name: names[index] ?? null, scores: Array.from(floats(wasm.scores(), names.length)) };
  };
  const classify = (frames) => { wasm.begin(frames.length); frames.forEach(push); return answer(); };
  return { names, begin: wasm.begin, push, answer, classify };
}
""")


def to_wasm(files: CFiles, *, simd: bool = True, size: bool = False) -> bytes:
    """Compile the files to a module without imports."""
    values = {"name": files.name, "NAME": files.name.upper(), "number": files.number}
    streaming = f"{files.name}_begin" in files.header
    glue = GLUE.substitute(values) + NETWORK_GLUE.substitute(values)
    glue += STREAM_GLUE.substitute(values) if streaming else ""
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        folder = Path(made)
        (folder / f"{files.name}.h").write_text(files.header, encoding="utf-8")
        (folder / f"{files.name}.c").write_text(files.source, encoding="utf-8")
        (folder / "glue.c").write_text(glue, encoding="utf-8")
        out = folder / "out.wasm"
        flags = [
            "-target",
            "wasm32-freestanding",
            "-nostdlib",
            "-std=c99",
            "-s",
            "-ffp-contract=off",
            "-Wl,--no-entry",
        ]
        flags += ["-Oz" if size else "-O3", *(["-msimd128"] if simd and not size else [])]
        flags += ["-Wl,-z,stack-size=16384", "-Wl,--export-memory"]
        compile_c(
            zig_compiler(),
            [*flags, folder / f"{files.name}.c", folder / "glue.c", "-o", out],
            what="making wasm",
        )
        return out.read_bytes()


def javascript(files: CFiles) -> str:
    """The loader's text."""
    return LOADER.substitute(name=files.name)


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

    def stream(self, frames: Floats, *, length: int | None = None) -> tuple[int, Floats]:
        """``(answer, scores)`` for raw joints ``[T, V, 3]``."""
        if self._call("begin", len(frames) if length is None else length) < 0:
            raise ExportError(f"the module refuses a sequence of {len(frames)} frames")
        for frame in np.asarray(frames, np.float32):
            self._write("frame", frame)
            self._call("push_frame")
        answer = self._call("classify")
        return answer, self._scores()
