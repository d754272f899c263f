"""An exported network measured on this machine: latency by the clock, instructions by valgrind.

One thread.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.c.text import load_template
from bandstop.deploy.run.toolchain import FAST, STRICT, build

__all__ = ["Latency", "TimedC", "count_instructions", "time_c"]


@dataclass(frozen=True)
class Latency:
    """Nanoseconds of one inference: median and fastest of the rounds."""

    median: float
    fastest: float


class TimedC:
    """An exported network compiled with a timer around it, to be timed in turns with others."""

    def __init__(
        self,
        files: CFiles,
        inputs: NDArray[np.floating],
        *,
        compiler: tuple[str, ...] | None = None,
        flags: tuple[str, ...] = FAST,
    ) -> None:
        texts = {**files.texts, "timer.c": _filled("timer.c", files)}
        arguments = [*flags, *STRICT, "-fPIC", "-shared"]
        self._built = build(
            texts, arguments, output="timed.so", what=f"timing {files.name}", compiler=compiler
        )
        self._measure = ctypes.CDLL(str(self._built.path)).measure
        self._signal = np.ascontiguousarray(files.encode(inputs))
        self._scores = np.zeros(files.program.classes, np.float32)

    def _run(self, rounds: int, repeats: int) -> NDArray[np.float64]:
        spent = np.zeros(rounds)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (self._signal, spent, self._scores)]
        self._measure(pointers[0], len(self._signal), rounds, repeats, pointers[1], pointers[2])
        return spent

    def latency(self, *, rounds: int = 41) -> Latency:
        """Time the network function over the inputs in turn, about a millisecond per round."""
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


def count_instructions(files: CFiles, *, rounds: int = 50) -> int | None:
    """Instructions of one inference, the same on every run.

    None where valgrind is missing or cannot run it.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return None
    step = "0.01f" if files.number == "float" else "40"
    texts = {**files.texts, "count.c": _filled("count.c", files, step=step)}
    built = build(texts, FAST, output="program", what="counting instructions")
    counts = []
    for times in (1, 1 + rounds):
        command = [valgrind, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        done = subprocess.run([*command, built.path, str(times)], capture_output=True, text=True, check=False)
        found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
        if done.returncode or not found:
            return None
        counts.append(int(found[1].replace(",", "")))
    return (counts[1] - counts[0]) // rounds


def _filled(name: str, files: CFiles, **values: str) -> str:
    template = load_template(name, "bandstop.deploy.run.templates")
    return template.substitute(name=files.name, NAME=files.name.upper(), number=files.number, **values) + "\n"
