"""`bandstop describe`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import tyro

from bandstop.cli.parse import parse
from bandstop.skeleton import describe, load

__all__ = ["Describe", "main"]


@dataclass(frozen=True)
class Describe:
    """Say what was understood of a data set: sequences, classes, lengths, subjects, splits, duplicates, broken frames.

    Examples:
      bandstop describe hands
      bandstop describe fpha:~/FPHA
    """

    data: tyro.conf.Positional[str]
    """Data, named as for `bandstop train`."""
    json: bool = False
    """Print JSON instead of text."""


def main(arguments: Sequence[str]) -> int:
    """Print the description."""
    asked = parse(Describe, "describe", arguments)
    found = describe(load(asked.data))
    print(json.dumps(found.as_dict(), indent=1) if asked.json else "\n".join(found.lines()))
    return 0
