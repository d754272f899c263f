"""The budget that was asked for against what the network has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.engine.trace import trace
from bandstop.method.budget import Budget, sparse_bytes

__all__ = ["Outcome"]


@dataclass(frozen=True)
class Outcome:
    """Sizes of a network beside its budget; prunable weights and all parameters are told apart.

    >>> outcome = Outcome(Budget.rate(0.9), kept=10, prunable=100, unpruned=5, macs=None, live=None)
    >>> print(outcome)  # doctest: +NORMALIZE_WHITESPACE
    asked a pruning rate of 0.9; kept 10 of 100 prunable weights (a rate of 0.9), with 5 never pruned 15
    parameters; 80 bytes
    >>> print(Outcome(Budget.macs(50), kept=10, prunable=100, unpruned=5, macs=48, live=10).in_macs)
    48 of 50 MACs, the most that the budget's 50 can pay for; 10 connections are live
    """

    budget: Budget
    kept: int
    prunable: int
    unpruned: int
    macs: int | None
    live: int | None
    start: str = ""
    """How the pruner started and why, where it chose by itself."""

    @staticmethod
    def of(
        bound: BoundBudget, model: nn.Module, counts: Mapping[str, int], example: Any, start: str = ""
    ) -> Outcome:
        """Of a network as it is now; MACs and live connections if there is an ``example`` to trace."""
        macs = live = None
        if example is not None:
            found = trace(model, example)
            pruned = [weight for name, weight in found.weights.items() if name in counts]
            whole = bound.budget.scope == "network"
            macs = found.macs if whole else sum(weight.macs_nominal for weight in pruned)
            live = sum(weight.live_count for weight in pruned)
        return Outcome(bound.budget, sum(counts.values()), bound.prunable, bound.unpruned, macs, live, start)

    @property
    def rate(self) -> float:
        """Share of the prunable weights that was removed."""
        return 1 - self.kept / self.prunable

    @property
    def parameters(self) -> int:
        """All that is stored: kept weights and what is never pruned (biases, normalisation, excluded
        layers).
        """
        return self.kept + self.unpruned

    @property
    def bytes(self) -> int:
        """See ``bandstop.method.budget.sparse_bytes``."""
        return sparse_bytes(self.kept, self.unpruned)

    @property
    def in_macs(self) -> str:
        """The sentence about multiply-accumulates."""
        asked = f" of {int(self.budget.amount):,}" if self.budget.kind == "macs" else ""
        short = asked and self.macs != int(self.budget.amount)
        most = f", the most that the budget's {int(self.budget.amount):,} can pay for" if short else ""
        return f"{self.macs:,}{asked} MACs{most}; {self.live:,} connections are live"

    def __str__(self) -> str:
        kept = f"kept {self.kept:,} of {self.prunable:,} prunable weights (a rate of {self.rate:.6g})"
        rest = f"with {self.unpruned:,} never pruned {self.parameters:,} parameters; {self.bytes:,} bytes"
        traced = "" if self.macs is None else f"; {self.in_macs}"
        start = f"\n{self.start}" if self.start else ""
        return f"asked {self.budget.describe()}; {kept}, {rest}{traced}{start}"
