"""Typed arguments from words, by tyro; shared by the verbs."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TypeVar

import tyro

__all__ = ["parse"]

T = TypeVar("T")


def parse(kind: type[T], verb: str, arguments: Sequence[str], default: T | None = None) -> T:
    """Build ``kind`` (a dataclass whose docstring is the help text) from the command line."""
    parsed: T = tyro.cli(
        kind,
        prog=f"bandstop {verb}",
        description=inspect.cleandoc(kind.__doc__ or ""),
        args=list(arguments),
        config=(tyro.conf.FlagCreatePairsOff, tyro.conf.HelptextFromCommentsOff),
        default=tyro.MISSING_NONPROP if default is None else default,
    )
    return parsed
