"""Leaving out recordings that cannot be used, as a setting; ``bandstop.skeleton.drop_unusable`` does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["DropChoice", "dropped_text"]


@dataclass(frozen=True, kw_only=True)
class DropChoice:
    """Which recordings of a data set are left out."""

    drop: Literal["unusable"] | None = None
    """Leave out recordings in which a joint is zero or not finite in every frame, and say which. Without it
    such data are refused."""


def dropped_text(dropped: Sequence[str], most: int = 10) -> str:
    """Which sequences were left out, in words.

    >>> dropped_text(["a/1", "a/2", "b/1"], most=2)
    'left out 3 sequences that cannot be used: a/1, a/2 and 1 more'
    """
    more = f" and {len(dropped) - most:,} more" if len(dropped) > most else ""
    count = "1 sequence" if len(dropped) == 1 else f"{len(dropped):,} sequences"
    return f"left out {count} that cannot be used: {', '.join(dropped[:most])}{more}"
