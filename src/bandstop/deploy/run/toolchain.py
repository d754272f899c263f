"""Compilers: the system's own if there is one, else the one that comes with ``pip install ziglang``."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bandstop.errors import ExportError, MissingExtra

__all__ = ["FAST", "STRICT", "compile_c", "native_compiler", "zig_compiler"]

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


def compile_c(command: tuple[str, ...], arguments: list[str | Path], *, what: str) -> str:
    """Run a compiler; its complaint becomes an `ExportError`, its warnings are returned."""
    line = [*command, *map(str, arguments)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
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
