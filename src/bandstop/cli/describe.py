"""`bandstop describe`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bandstop.cli.parse import DataArgument, ReadingFlags, parse
from bandstop.record.reading import AS_IT_SAYS

__all__ = ["Describe", "main"]


@dataclass(frozen=True)
class Describe:
    """Say what was understood of a data set: sizes, classes, subjects, splits, duplicates, broken frames.

    Examples:
      bandstop describe hands
      bandstop describe fpha:~/FPHA
    """

    data: DataArgument
    """Data, named as for `bandstop train`."""
    json: bool = False
    """Print JSON instead of text."""
    all: bool = False
    """Name everything; by default at most ten of a kind, with the total."""
    reading: ReadingFlags = AS_IT_SAYS


def main(arguments: Sequence[str]) -> int:
    """Print the description."""
    asked = parse(Describe, "describe", arguments)

    from bandstop.skeleton import describe, load

    found = describe(load(asked.data, asked.reading))
    lines = [json.dumps(found.as_dict(), indent=1)] if asked.json else found.lines(everything=asked.all)
    print("\n".join(lines))
    return 0
