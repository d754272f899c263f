"""A budget, as a user asks for it, and the exact number of connections it means for a given network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from bandstop.errors import BudgetError

__all__ = ["INDEX_BYTES", "VALUE_BYTES", "Budget", "Kind", "Scope", "sparse_bytes"]

VALUE_BYTES = 4
"""A stored value: float32."""
INDEX_BYTES = 2
"""The position of a kept connection: a 16-bit index within its layer's row block."""

Kind = Literal["rate", "weights", "bytes", "macs"]
Scope = Literal["prunable", "network"]


def sparse_bytes(kept: int, unpruned: int) -> int:
    """Bytes of a sparse network: value and index of each kept connection, value of each unpruned parameter.

    >>> sparse_bytes(kept=100, unpruned=10)
    640
    """
    return kept * (VALUE_BYTES + INDEX_BYTES) + unpruned * VALUE_BYTES


@dataclass(frozen=True)
class Budget:
    """What may be kept: ``Budget.rate(0.98)``, ``.weights(800)``, ``.bytes(6000)`` or ``.macs(20_000)``.

    ``scope="prunable"`` counts only the prunable weights; ``scope="network"`` counts every parameter, so that
    biases and normalisation, which are never pruned, use up their part of the budget first. A rate is the
    share removed.

    >>> Budget.rate(0.98).connections(prunable=39_400, unpruned=141)
    788
    >>> Budget.weights(788, scope="network").connections(prunable=39_400, unpruned=141)
    647
    """

    kind: Kind
    amount: float
    scope: Scope = "prunable"

    def __post_init__(self) -> None:
        if isinstance(self.amount, bool) or not isinstance(self.amount, int | float):
            raise BudgetError(f"a budget in {self.kind} must be a number, found {self.amount!r}")
        if self.scope not in get_args(Scope):
            raise BudgetError(f"the scope of a budget is prunable or network, found {self.scope!r}")
        if self.kind == "rate" and not 0 <= self.amount < 1:
            raise BudgetError(
                f"a pruning rate must be in [0, 1), found {self.amount}: 0.98 removes 98 % of the weights"
            )
        if self.kind != "rate" and not (1 <= self.amount < math.inf and self.amount == int(self.amount)):
            raise BudgetError(
                f"a budget in {self.kind} must be a whole number of at least 1, found {self.amount}"
            )

    @staticmethod
    def of(budget: Budget | float) -> Budget:
        """A budget as it is, or the pruning rate that a number stands for.

        >>> Budget.of(0.9) == Budget.of(Budget.rate(0.9))
        True
        """
        if isinstance(budget, Budget):
            return budget
        if isinstance(budget, bool) or not isinstance(budget, int | float):
            raise BudgetError(
                f"a budget is a pruning rate such as 0.98 or a Budget, found {type(budget).__name__} "
                f"{budget!r}"
            )
        return Budget.rate(budget)

    @staticmethod
    def rate(amount: float, scope: Scope = "prunable") -> Budget:
        """Remove this share of the weights."""
        return Budget("rate", amount, scope)

    @staticmethod
    def weights(amount: int, scope: Scope = "prunable") -> Budget:
        """Keep this number of weights."""
        return Budget("weights", amount, scope)

    @staticmethod
    def bytes(amount: int, scope: Scope = "network") -> Budget:
        """Fit into this number of bytes (see ``sparse_bytes``)."""
        return Budget("bytes", amount, scope)

    @staticmethod
    def macs(amount: int, scope: Scope = "prunable") -> Budget:
        """Use at most this number of multiply-accumulates per inference.

        ``scope="network"`` counts those of unpruned weights too.
        """
        return Budget("macs", amount, scope)

    def connections(self, *, prunable: int, unpruned: int = 0, smallest: int = 1) -> int:
        """The number of prunable weights to keep; refuses the impossible and says what is possible."""
        if self.kind == "macs":
            raise BudgetError("a budget in MACs needs the cost of each layer: use `fit_macs`")
        fixed = unpruned if self.scope == "network" else 0
        if self.kind == "rate":
            kept = round((1 - self.amount) * (prunable + fixed)) - fixed
            least = f"a rate of at most {_below(1 - (smallest + fixed) / (prunable + fixed))}"
        elif self.kind == "weights":
            kept = int(self.amount) - fixed
            least = f"{smallest + fixed:,} weights"
        else:
            kept = (int(self.amount) - fixed * VALUE_BYTES) // (VALUE_BYTES + INDEX_BYTES)
            least = f"{sparse_bytes(smallest, fixed):,} bytes"
        if kept < smallest:
            never = f", {fixed:,} of them never pruned" if fixed else ""
            raise BudgetError(
                f"{self.describe()} of a network with {prunable + fixed:,} weights{never} leaves "
                f"{max(kept, 0)} connections, but {smallest} are needed to leave no layer empty; the "
                f"smallest possible is {least}"
            )
        if self.kind == "weights" and kept > prunable:
            raise BudgetError(
                f"{self.describe()} is more than the network has; the largest possible is "
                f"{prunable + fixed:,}"
            )
        return min(kept, prunable)

    def describe(self) -> str:
        """In words.

        >>> Budget.rate(0.98).describe(), Budget.macs(5000).describe()
        ('a pruning rate of 0.98', 'a budget of 5,000 macs')
        """
        return (
            f"a pruning rate of {self.amount}"
            if self.kind == "rate"
            else f"a budget of {int(self.amount):,} {self.kind}"
        )

    def fit_macs(
        self, counts: Mapping[str, int], uses: Mapping[str, int], sizes: Mapping[str, int], smallest: int = 1
    ) -> dict[str, int]:
        """Trim or fill ``counts`` so that ``Σ count·uses`` comes as near to the MACs as it can from below.

        ``uses``: multiply-accumulates that one connection of a layer costs per inference. What is left goes
        to the dearest layer that it pays for, then to the next: the budget is met exactly where some layer
        with room costs a single MAC per connection. Layers that multiply nothing (tables that are looked up)
        keep their counts.
        """
        fitted, limit = dict(counts), int(self.amount)
        least = sum(min(smallest, sizes[n]) * uses[n] for n in fitted)
        if least > limit:
            raise BudgetError(
                f"{self.describe()} cannot be met: {smallest} connection(s) in each layer need {least:,} "
                "MACs, the smallest possible"
            )
        paid = sorted((n for n in fitted if uses[n]), key=lambda n: (-uses[n], n))
        for name in paid:
            over = sum(fitted[n] * uses[n] for n in fitted) - limit
            if over > 0:
                fitted[name] = max(min(smallest, sizes[name]), fitted[name] - -(-over // uses[name]))
        for name in paid:
            left = limit - sum(fitted[n] * uses[n] for n in fitted)
            fitted[name] = min(sizes[name], fitted[name] + max(left, 0) // uses[name])
        return fitted


def _below(rate: float) -> str:
    """A rate rounded down, so that what the message offers is really possible."""
    return f"{max(int(rate * 1e6) / 1e6, 0.0):.6g}"
