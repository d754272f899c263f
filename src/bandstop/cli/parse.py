"""Typed arguments from words, by tyro. Nothing here loads torch: help and refusals are quick."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any, TypeVar

import tyro
from tyro import _docstrings, _strings

from bandstop.errors import ConfigError
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

    A choice that there is not is refused in a sentence, by tyro in a box where it has no hook for it.

    ``default``: what the flags start from, where that is not the class's own defaults.
    """
    with _flowing_texts(), _plain_descriptions(), _one_sentence():
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


@contextmanager
def _plain_descriptions() -> Iterator[None]:
    """Leave doctests out of help: the docstring of a settings class describes its group of flags."""
    plain = _docstrings.get_callable_description
    _docstrings.get_callable_description = lambda f: without_doctests(plain(f))
    try:
        yield
    finally:
        _docstrings.get_callable_description = plain


def without_doctests(text: str) -> str:
    r"""The paragraphs of a docstring that are words.

    >>> without_doctests("Sizes.\n\n>>> Sizes(heads=0)\nSizes(heads=0)\n\nAll of them.")
    'Sizes.\n\nAll of them.'
    """
    return "\n\n".join(part for part in text.split("\n\n") if not part.lstrip().startswith(">>>"))


def _one_sentence() -> AbstractContextManager[None]:
    try:
        from tyro import _errors
    except ImportError:  # older than its hook
        return nullcontext()

    def refuse(event: Any) -> None:
        if isinstance(event, _errors.InvalidChoice):
            raise ConfigError(wrong_choice(event.argument.display_name(), event.value, event.choices))

    return _errors.on_parse_error(refuse)


def wrong_choice(name: str, found: str, choices: Sequence[str]) -> str:
    """What is said of a value that is none of ``choices``.

    >>> wrong_choice("--net.kind", "tcnn", ("gcn", "lstm", "tcn"))
    "--net.kind must be gcn, lstm or tcn, found 'tcnn'; did you mean tcn?"
    >>> wrong_choice("--drop", "all", ("None", "unusable"))
    "--drop must be unusable, found 'all'"
    """
    words = sorted(word for word in choices if word != "None")  # of a union they come in any order
    *others, last = words
    listed = f"{', '.join(others)} or {last}" if others else last
    turned = [word for word in words if sorted(word.split("+")) == sorted(found.split("+"))]
    meant = turned or difflib.get_close_matches(found, words, n=1)
    return f"{name} must be {listed}, found {found!r}" + (f"; did you mean {meant[0]}?" if meant else "")
