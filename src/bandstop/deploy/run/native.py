"""An exported network compiled for this machine and called from Python: how every export to C is checked."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.ir.program import Floats
from bandstop.deploy.run.toolchain import FAST, STRICT, build
from bandstop.record.rejection import Answer

__all__ = ["Native"]


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
        self.files, name = files, files.name
        arguments = [*flags, *STRICT, "-fPIC", "-shared"]
        if open_ended:
            arguments.append(f"-D{name.upper()}_OPEN_ENDED=1")
        self._built = build(
            files.texts, arguments, output=f"lib{name}.so", what=f"compiling {name}.c", compiler=compiler
        )
        self._library = ctypes.CDLL(str(self._built.path))
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
        """``(answer, scores, answers of push_frame)`` for raw joints ``[T, V, 3]``.

        ``length`` as given to begin.
        """
        state = ctypes.create_string_buffer(self.state_bytes)
        scores = np.zeros(self._program.classes, np.float32)
        self._function("begin")(state, ctypes.c_uint32(len(frames) if length is None else length))
        values = int(np.prod(np.shape(frames)[1:]))
        rows = np.ascontiguousarray(frames, np.float32).reshape(len(frames), values)
        pushed = [int(self._function("push_frame")(state, _pointer(row))) for row in rows]
        return int(self._function("classify")(state, _pointer(scores))), scores, pushed

    def answers(self, scores: Floats) -> list[Answer]:
        """What rows of scores say, none of these too."""
        likely, run = ctypes.c_float(), self._function("answer")
        rows = np.ascontiguousarray(scores, np.float32)
        return [Answer(int(run(_pointer(row), ctypes.byref(likely))), likely.value) for row in rows]

    @property
    def state_bytes(self) -> int:
        """Room that holds the state, with the bins of open-ended input."""
        bins = 4 * (2 * self._program.sizes[self._program.input] + 16)
        return self.files.state_bytes + bins


def _pointer(row: NDArray[np.generic]) -> ctypes.c_void_p:
    return ctypes.c_void_p(row.ctypes.data)
