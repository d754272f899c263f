"""The budget planned before training: how many connections each layer will keep, by arithmetic alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["PlannedBudget", "Sure"]

Sure = Literal["layers", "total", "nothing"]
"""What of a plan the training keeps to: every layer's count, only their sum, or neither."""

SENTENCES: dict[Sure, str] = {
    "layers": "The finished network has exactly these counts.",
    "total": "The finished network has exactly this total; its layers may differ from the plan a little, "
    "{reason}.",
    "nothing": "The plan is an aim: {reason}.",
}


@dataclass(frozen=True)
class PlannedBudget:
    """Connections that each layer is to keep, of how many, and what of it is sure.

    >>> plan = PlannedBudget({"encoder": 20, "classifier": 80}, {"encoder": 100, "classifier": 900}, "layers")
    >>> plan.total, plan.sentence
    (100, 'The finished network has exactly these counts.')
    >>> print(plan)
    layer       weights  kept  rate
    encoder         100    20  80.00 %
    classifier      900    80  91.11 %
    all           1,000   100  90.00 %
    The finished network has exactly these counts.
    """

    counts: Mapping[str, int]
    sizes: Mapping[str, int]
    sure: Sure
    reason: str = ""
    """Why not all of it is sure."""

    @property
    def total(self) -> int:
        """Connections in all."""
        return sum(self.counts.values())

    @property
    def sentence(self) -> str:
        """What of the plan is sure, and why not more."""
        return SENTENCES[self.sure].format(reason=self.reason)

    def __str__(self) -> str:
        rows = [(name, self.sizes[name], kept) for name, kept in self.counts.items()]
        rows.append(("all", sum(self.sizes.values()), self.total))
        cells = [("layer", "weights", "kept", "rate")]
        cells += [(name, f"{n:,}", f"{kept:,}", f"{100 * (1 - kept / n):.2f} %") for name, n, kept in rows]
        wide = [max(len(row[i]) for row in cells) for i in range(3)]
        lines = [f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c:>{wide[2]}}  {d}" for a, b, c, d in cells]
        return "\n".join([*lines, self.sentence])
