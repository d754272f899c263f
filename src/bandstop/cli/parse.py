"""Typed arguments from words, by tyro. Nothing here loads torch: help and refusals are quick."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import tyro
from tyro import _strings

from bandstop.record.reading import Reading

__all__ = [
    "Archive",
    "DataArgument",
    "FileArguments",
    "Folder",
    "MaybeData",
    "MaybeFile",
    "MaybeFolder",
    "ReadingFlags",
    "RunArgument",
    "Runs",
    "glance",
    "parse",
]

T = TypeVar("T")

Folder = Annotated[Path, tyro.conf.arg(metavar="FOLDER")]
MaybeFolder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")]
MaybeFile = Annotated[Path | None, tyro.conf.arg(metavar="FILE")]
MaybeData = Annotated[str | None, tyro.conf.arg(metavar="DATA")]
Runs = Annotated[tuple[Path, ...], tyro.conf.arg(metavar="RUN …")]
RunArgument = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
DataArgument = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]
FileArguments = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FILE …")]
ReadingFlags = Annotated[Reading, tyro.conf.arg(name="")]
Archive = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE.npz")]


def parse(kind: type[T], verb: str, arguments: Sequence[str], default: T | None = None) -> T:
    """Build ``kind`` (a dataclass whose docstring is the help text) from the command line.

    ``default``: what the flags start from, where that is not the class's own defaults.
    """
    with _flowing_texts():
        parsed: T = tyro.cli(
            kind,
            prog=f"bandstop {verb}",
            description=inspect.cleandoc(kind.__doc__ or ""),
            args=list(arguments),
            config=(tyro.conf.FlagCreatePairsOff, tyro.conf.HelptextFromCommentsOff),
            default=tyro.MISSING_NONPROP if default is None else default,
        )
    return parsed


def glance(kind: type[T], arguments: Sequence[str]) -> T:
    """Only the flags of ``kind`` from a command line that holds others too.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Which:
    ...     preset: str = "default"
    >>> glance(Which, ["hands", "--rate", "0.9", "--preset=paper", "--help"])
    Which(preset='paper')
    """
    words = [word for word in arguments if word not in ("-h", "--help")]
    found, _ = tyro.cli(kind, args=words, return_unknown_args=True, config=(tyro.conf.FlagCreatePairsOff,))
    return found


@contextmanager
def _flowing_texts() -> Iterator[None]:
    """Let the text of a flag flow: tyro takes an indented line for an item of a list."""
    plain = _strings.remove_single_line_breaks

    def flowing(helptext: str) -> str:
        return plain(helptext) if "\n\n" in helptext else " ".join(helptext.split())

    _strings.remove_single_line_breaks = flowing
    try:
        yield
    finally:
        _strings.remove_single_line_breaks = plain
