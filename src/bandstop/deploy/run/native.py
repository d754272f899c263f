"""An exported network compiled for this machine and called from Python: how every export to C is checked."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.run.toolchain import FAST, STRICT, compile_c, native_compiler

__all__ = ["Native"]

Floats = NDArray[np.float32]


class Native:
    """A shared library of the files, alive as long as this object."""

    def __init__(
        self,
        files: CFiles,
        *,
        compiler: tuple[str, ...] | None = None,
        flags: Sequence[str] = FAST,
        open_ended: bool = False,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bandstop-")
        folder = Path(self._folder.name)
        self.files, name = files, files.name
        (folder / f"{name}.h").write_text(files.header, encoding="utf-8")
        (folder / f"{name}.c").write_text(files.source, encoding="utf-8")
        library = folder / f"lib{name}.so"
        arguments: list[str | Path] = [*flags, *STRICT, "-fPIC", "-shared", folder / f"{name}.c"]
        if open_ended:
            arguments.append(f"-D{name.upper()}_OPEN_ENDED=1")
        compile_c(compiler or native_compiler(), [*arguments, "-o", library], what=f"compiling {name}.c")
        self._library = ctypes.CDLL(str(library))
        self._program = files.program

    def _function(self, verb: str) -> ctypes._NamedFuncPointer:
        found: ctypes._NamedFuncPointer = getattr(self._library, f"{self.files.name}_{verb}")
        return found

    def network(self, inputs: NDArray[np.floating]) -> Floats:
        """Scores ``[N, classes]`` of network inputs ``[N, …]``."""
        signal = self.files.encode(inputs)
        scores = np.zeros((len(signal), self._program.classes), np.float32)
        work = np.zeros(self.files.work_bytes + 32, np.uint8)
        run = self._function("network")
        for row, out in zip(signal, scores, strict=True):
            run(_pointer(row), _pointer(out), _pointer(work))
        return scores

    def stream(
        self, frames: NDArray[np.floating], *, length: int | None = None
    ) -> tuple[int, Floats, list[int]]:
        """``(answer, scores, answers of push_frame)`` for raw joints ``[T, V, 3]``; ``length`` as given to begin."""
        state = ctypes.create_string_buffer(self.state_bytes)
        scores = np.zeros(self._program.classes, np.float32)
        self._function("begin")(state, ctypes.c_uint32(len(frames) if length is None else length))
        rows = np.ascontiguousarray(frames, np.float32).reshape(
            len(frames), int(np.prod(np.shape(frames)[1:]))
        )
        pushed = [int(self._function("push_frame")(state, _pointer(row))) for row in rows]
        return int(self._function("classify")(state, _pointer(scores))), scores, pushed

    @property
    def state_bytes(self) -> int:
        """Room that holds the state, with the bins of open-ended input."""
        bins = 4 * (2 * self._program.sizes[self._program.input] + 16)
        return self.files.state_bytes + bins


def _pointer(row: NDArray[np.generic]) -> ctypes.c_void_p:
    return ctypes.c_void_p(row.ctypes.data)
