"""`bandstop describe`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bandstop.cli.parse import DataArgument, parse

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


def main(arguments: Sequence[str]) -> int:
    """Print the description."""
    asked = parse(Describe, "describe", arguments)

    from bandstop.skeleton import describe, load

    found = describe(load(asked.data))
    print(json.dumps(found.as_dict(), indent=1) if asked.json else "\n".join(found.lines()))
    return 0
