"""What a test needs from the machine: probed by doing it, and named in the reason where it is skipped."""

import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

__all__ = [
    "COMPILERS",
    "SANITIZERS",
    "needs",
    "needs_compiler",
    "needs_python_headers",
    "needs_sanitizers",
]

COMPILERS = ("gcc", "clang")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def needs(tool: str, package: str) -> pytest.MarkDecorator:
    """Skip where ``tool`` does not start; ``package`` is Debian's name of what it comes with."""
    return pytest.mark.skipif(
        not _starts(tool), reason=f"{tool} is not installed or does not start (Debian package {package})"
    )


def needs_compiler(compiler: str) -> None:
    """Skip the running test where ``compiler`` cannot build a program."""
    problem = _cannot_build(compiler, ())
    if problem:
        pytest.skip(f"{compiler} builds no program: {problem}")


def needs_sanitizers(compiler: str) -> None:
    """Skip the running test where ``compiler`` cannot build a program under the sanitizers."""
    problem = _cannot_build(compiler, SANITIZERS)
    if problem:
        package = "libclang-rt-VERSION-dev" if compiler == "clang" else "gcc"
        pytest.skip(f"{compiler} builds no program under sanitizers (Debian package {package}): {problem}")


def needs_python_headers(compiler: str) -> None:
    """Skip the running test where ``compiler`` cannot build a program that includes Python's headers."""
    include = (f"-I{sysconfig.get_path('include')}", "-include", "Python.h")
    problem = _cannot_build(compiler, include)
    if problem:
        pytest.skip(f"{compiler} does not find Python's headers (Debian package python3-dev): {problem}")


@cache
def _starts(tool: str) -> bool:
    if not shutil.which(tool):
        return False
    return subprocess.run([tool, "--version"], capture_output=True, timeout=60).returncode == 0


@cache
def _cannot_build(compiler: str, flags: Sequence[str]) -> str:
    """The last line of what goes wrong with a small program, nothing where it builds and runs."""
    if not shutil.which(compiler):
        return f"{compiler} is not installed"
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "probe.c", Path(folder) / "probe"
        source.write_text('#include <stdio.h>\nint main(void) { puts("probe"); return 0; }\n')
        built = subprocess.run(
            [compiler, *flags, source, "-o", program], capture_output=True, text=True, timeout=60
        )
        if built.returncode:
            return (built.stderr.strip().splitlines() or ["no word why"])[-1]
        ran = subprocess.run([program], capture_output=True, text=True, timeout=60)
        return "" if ran.stdout == "probe\n" else f"it ends with {ran.returncode}"
