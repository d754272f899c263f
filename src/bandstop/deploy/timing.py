"""Latency of an exported network on this machine: medians of many short runs, one thread."""

from __future__ import annotations

import ctypes
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c_source import CFiles
from bandstop.deploy.toolchain import FAST, STRICT, compile_c, native_compiler

__all__ = ["Latency", "time_c"]

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


def time_c(
    files: CFiles,
    inputs: NDArray[np.floating],
    *,
    compiler: tuple[str, ...] | None = None,
    flags: tuple[str, ...] = FAST,
    rounds: int = 41,
) -> Latency:
    """Time the network function over ``inputs`` in turn."""
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        folder, name = Path(made), files.name
        (folder / f"{name}.h").write_text(files.header, encoding="utf-8")
        (folder / f"{name}.c").write_text(files.source, encoding="utf-8")
        timer = TIMER.format(name=name, NAME=name.upper(), number=files.number)
        (folder / "timer.c").write_text(timer, encoding="utf-8")
        sources = [folder / f"{name}.c", folder / "timer.c"]
        library = folder / "timed.so"
        command = compiler or native_compiler()
        compile_c(
            command, [*flags, *STRICT, "-fPIC", "-shared", *sources, "-o", library], what=f"timing {name}"
        )
        measure = ctypes.CDLL(str(library)).measure
        signal = np.ascontiguousarray(files.encode(inputs))
        scores = np.zeros(files.program.classes, np.float32)
        spent = np.zeros(rounds)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (signal, spent, scores)]

        def run(repeats: int) -> None:
            measure(pointers[0], len(signal), rounds, repeats, pointers[1], pointers[2])

        run(4)
        run(max(1, int(1e6 / max(float(np.median(spent)), 1.0))))
        return Latency(float(np.median(spent)), float(spent.min()))
