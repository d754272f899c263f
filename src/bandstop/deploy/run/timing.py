"""Latency of an exported network on this machine: medians of many short runs, one thread."""

from __future__ import annotations

import ctypes
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.run.toolchain import FAST, STRICT, compile_c, native_compiler

__all__ = ["Latency", "TimedC", "time_c"]

TIMER = """#define _POSIX_C_SOURCE 199309L
#include <time.h>
#include "{name}.h"
static {number} work[{NAME}_WORK];
void measure(const {number} *inputs, int count, int rounds, int repeats, double *nanoseconds, float *scores);
void measure(const {number} *inputs, int count, int rounds, int repeats, double *nanoseconds, float *scores)
{{
    struct timespec a, b;
    int r, k, i = 0;
    for (r = 0; r < rounds; ++r) {{
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (k = 0; k < repeats; ++k) {{
            {name}_network(inputs + (long)i * {NAME}_SIGNAL, scores, work);
            i = i + 1 < count ? i + 1 : 0;
        }}
        clock_gettime(CLOCK_MONOTONIC, &b);
        nanoseconds[r] = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / repeats;
    }}
}}
"""


@dataclass(frozen=True)
class Latency:
    """Nanoseconds of one inference: median and fastest of the rounds."""

    median: float
    fastest: float


class TimedC:
    """An exported network compiled with a timer around it, so that it can be timed again and again among others."""

    def __init__(
        self,
        files: CFiles,
        inputs: NDArray[np.floating],
        *,
        compiler: tuple[str, ...] | None = None,
        flags: tuple[str, ...] = FAST,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bandstop-")
        folder, name = Path(self._folder.name), files.name
        (folder / f"{name}.h").write_text(files.header, encoding="utf-8")
        (folder / f"{name}.c").write_text(files.source, encoding="utf-8")
        timer = TIMER.format(name=name, NAME=name.upper(), number=files.number)
        (folder / "timer.c").write_text(timer, encoding="utf-8")
        sources = [folder / f"{name}.c", folder / "timer.c"]
        library = folder / "timed.so"
        arguments: list[str | Path] = [*flags, *STRICT, "-fPIC", "-shared", *sources, "-o", library]
        compile_c(compiler or native_compiler(), arguments, what=f"timing {name}")
        self._measure = ctypes.CDLL(str(library)).measure
        self._signal = np.ascontiguousarray(files.encode(inputs))
        self._scores = np.zeros(files.program.classes, np.float32)

    def _run(self, rounds: int, repeats: int) -> NDArray[np.float64]:
        spent = np.zeros(rounds)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (self._signal, spent, self._scores)]
        self._measure(pointers[0], len(self._signal), rounds, repeats, pointers[1], pointers[2])
        return spent

    def latency(self, *, rounds: int = 41) -> Latency:
        """Time the network function over the inputs in turn, about a millisecond a round."""
        once = float(np.median(self._run(rounds, 4)))
        spent = self._run(rounds, max(1, int(1e6 / max(once, 1.0))))
        return Latency(float(np.median(spent)), float(spent.min()))


def time_c(
    files: CFiles,
    inputs: NDArray[np.floating],
    *,
    compiler: tuple[str, ...] | None = None,
    flags: tuple[str, ...] = FAST,
    rounds: int = 41,
) -> Latency:
    """Compile and time the network function once."""
    return TimedC(files, inputs, compiler=compiler, flags=flags).latency(rounds=rounds)
