"""A random mask, drawn once and never changed."""

from __future__ import annotations

from dataclasses import dataclass

from bandstop.rivals.masked import MaskedMethod
from bandstop.rivals.settings import Rule, Settings

__all__ = ["RandomStatic", "RandomStaticSettings"]


@dataclass(frozen=True)
class RandomStaticSettings(Settings):
    """Evci et al. 2020 (the "static" baseline); Liu et al. 2022."""

    allocation: Rule = "erk"
    """How layers share the budget."""


class RandomStatic(MaskedMethod[RandomStaticSettings]):
    """Each layer keeps a uniformly random choice of its connections throughout."""

    def begin(self) -> None:
        """Draw the mask."""
        self.freeze(self.select(self.random_scores()))
