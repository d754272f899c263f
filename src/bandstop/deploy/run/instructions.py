"""Instructions of one inference, counted by valgrind: a figure that does not depend on the day."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.run.toolchain import FAST, compile_c, native_compiler

__all__ = ["count_instructions"]

MAIN = """#include <stdlib.h>
#include "{name}.h"
static {number} signal[{NAME}_SIGNAL], work[{NAME}_WORK];
static float scores[{NAME}_CLASSES];
int main(int count, char **words)
{{
    int i, rounds = count > 1 ? atoi(words[1]) : 1;
    for (i = 0; i < {NAME}_SIGNAL; ++i) signal[i] = ({number})((i * 37 % 200 - 100) * {step});
    for (i = 0; i < rounds; ++i) {name}_network(signal, scores, work);
    return scores[0] > 1e30f;
}}
"""


def count_instructions(files: CFiles, *, rounds: int = 50) -> int | None:
    """Instructions of the network function on this machine; None where valgrind is not installed or cannot run it."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return None
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        folder, name = Path(made), files.name
        step = "0.01f" if files.number == "float" else "40"
        main = MAIN.format(name=name, NAME=name.upper(), number=files.number, step=step)
        for file, text in ((f"{name}.h", files.header), (f"{name}.c", files.source), ("main.c", main)):
            (folder / file).write_text(text, encoding="utf-8")
        program = folder / "program"
        sources = [folder / f"{name}.c", folder / "main.c"]
        compile_c(native_compiler(), [*FAST, *sources, "-o", program], what="counting instructions")
        counts = []
        for times in (1, 1 + rounds):
            command = [
                valgrind,
                "--tool=cachegrind",
                "--cache-sim=no",
                f"--cachegrind-out-file={folder / 'out'}",
            ]
            done = subprocess.run(
                [*command, program, str(times)], capture_output=True, text=True, check=False
            )
            found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
            if done.returncode or not found:
                return None
            counts.append(int(found[1].replace(",", "")))
        return (counts[1] - counts[0]) // rounds
