"""One thing that is tried, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

__all__ = ["Case", "Place", "Result", "plain_sentence"]

LONGEST_SENTENCE = 1200
"""Characters of a refusal: paths and lists of names included."""


@dataclass(frozen=True)
class Place:
    """Where a case runs: an empty folder of its own, one that all cases of its group share, and its dice."""

    folder: Path
    shared: Path
    random: Random


@dataclass(frozen=True)
class Result:
    """How many files, kills, cases or frames were tried, and what went wrong, a sentence each."""

    count: int = 1
    failures: tuple[str, ...] = ()
    skipped: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    """Numbers that the page shows, such as the longest time; of many cases the largest is shown."""


@dataclass(frozen=True)
class Case:
    """``name`` is unique in its group: a run that is taken up again knows by it what is done."""

    group: str
    name: str
    run: Callable[[Place], Result]

    def dice(self, seed: int) -> Random:
        """The same numbers whenever this case runs with this seed.

        >>> case = Case("files", "csv 3", lambda place: Result())
        >>> case.dice(0).random() == case.dice(0).random() != case.dice(1).random()
        True
        """
        return Random(f"{seed} {self.group} {self.name}")


def plain_sentence(text: str) -> str:
    r"""What is wrong with a refusal's words; nothing if they are one sentence fit for a terminal.

    >>> plain_sentence("a.csv, line 1: the file is empty"), plain_sentence("bad \x1b[2J name")
    ('', 'holds control characters')
    """
    if not text.strip():
        return "says nothing"
    if "Traceback (most recent call last)" in text:
        return "is a traceback"
    if "\n" in text.strip("\n"):
        return "has several lines"
    if not text.strip("\n").isprintable():
        return "holds control characters"
    return f"has {len(text)} characters" if len(text) > LONGEST_SENTENCE else ""
