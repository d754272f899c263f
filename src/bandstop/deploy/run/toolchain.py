"""Compilers: the system's own if there is one, else the one that comes with ``pip install ziglang``."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bandstop.errors import ExportError, MissingExtra

__all__ = ["FAST", "STRICT", "Build", "build", "compile_c", "native_compiler", "zig_compiler"]

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror")
FAST = ("-O3", "-march=native", "-ffp-contract=fast", "-ffinite-math-only", "-fno-signed-zeros")
TIME_LIMIT = 300


def zig_compiler() -> tuple[str, ...]:
    """Command of the C compiler in the ``ziglang`` package."""
    if importlib.util.find_spec("ziglang") is None:
        raise MissingExtra("ziglang", extra="deploy")
    return (sys.executable, "-m", "ziglang", "cc")


def native_compiler() -> tuple[str, ...]:
    """``$CC``, clang, gcc or zig, the first that is there (clang schedules long straight-line code best)."""
    asked = os.environ.get("CC", "").split()
    if asked:
        return tuple(asked)
    for name in ("clang", "gcc"):
        found = shutil.which(name)
        if found:
            return (found,)
    return zig_compiler()


class Build:
    """What a compiler made, in a temporary folder that lives as long as this object."""

    def __init__(self, folder: tempfile.TemporaryDirectory[str], output: str, said: str) -> None:
        self._folder = folder
        self.path = Path(folder.name) / output
        """The compiled file."""
        self.said = said
        """The compiler's warnings."""


def build(
    texts: Mapping[str, str],
    arguments: Sequence[str],
    *,
    output: str,
    what: str,
    compiler: tuple[str, ...] | None = None,
) -> Build:
    """Write ``texts`` to a temporary folder and compile every ``.c`` file of them there, in that order.

    ``arguments`` may name the other files, such as a linker script. ``what`` begins the sentence of an error.

    >>> made = build({"one.c": "int one(void) { return 1; }"}, ["-c"], output="one.o", what="compiling one.c")
    >>> made.path.exists()
    True
    """
    folder = tempfile.TemporaryDirectory(prefix="bandstop-")
    for name, text in texts.items():
        (Path(folder.name) / name).write_text(text, encoding="utf-8")
    sources = [name for name in texts if name.endswith(".c")]
    line = [*arguments, *sources, "-o", output]
    return Build(
        folder, output, compile_c(compiler or native_compiler(), line, what=what, folder=Path(folder.name))
    )


def compile_c(
    command: tuple[str, ...], arguments: Sequence[str | Path], *, what: str, folder: Path | None = None
) -> str:
    """Run a compiler in ``folder``; its complaint becomes an `ExportError`, its warnings are returned."""
    line = [*command, *map(str, arguments)]
    try:
        done = subprocess.run(
            line, cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
    except OSError as problem:
        raise ExportError(
            f"{what}: the compiler {command[0]} cannot be started: {problem.strerror}"
        ) from None
    except subprocess.TimeoutExpired:
        raise ExportError(f"{what}: the compiler took more than {TIME_LIMIT} s") from None
    if done.returncode:
        complaint = next(
            (row for row in done.stderr.splitlines() if "error" in row), done.stderr.strip()[-300:]
        )
        raise ExportError(f"{what}: {Path(command[0]).name} failed: {complaint}")
    return done.stderr
