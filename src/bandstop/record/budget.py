"""The flags of a budget, written once for every command that takes one."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from bandstop.errors import ConfigError
from bandstop.method.budget import Budget, Kind, Scope

__all__ = ["BudgetChoice"]

KINDS: tuple[Kind, ...] = ("rate", "weights", "bytes", "macs")


@dataclass(frozen=True, kw_only=True)
class BudgetChoice:
    """At most one budget.

    >>> BudgetChoice(weights=800).budget
    Budget(kind='weights', amount=800, scope='prunable')
    """

    rate: float | None = None
    """Budget: share of the weights to remove."""
    weights: int | None = None
    """Budget: number of weights to keep."""
    bytes: int | None = None
    """Budget: bytes of the sparse network."""
    macs: int | None = None
    """Budget: multiply-accumulates of one inference."""
    scope: Literal["prunable", "network"] | None = None
    """Whether the budget counts prunable weights only or every parameter of the network; unless given,
    bytes count everything."""

    def __post_init__(self) -> None:
        if len(asked := self.asked) > 1:
            found = " and ".join(f"--{kind}" for kind in asked)
            raise ConfigError(f"one budget at a time: found {found}; give only one of them")
        _ = self.budget  # refuses an amount that no network can meet

    @property
    def asked(self) -> dict[Kind, float]:
        """The amounts that are given, by kind."""
        amounts = {kind: getattr(self, kind) for kind in KINDS}
        return {kind: amount for kind, amount in amounts.items() if amount is not None}

    @property
    def budget(self) -> Budget | None:
        """The asked budget, if there is one."""
        return next((self._budget(kind, amount) for kind, amount in self.asked.items()), None)

    def _budget(self, kind: Kind, amount: float) -> Budget:
        scope: Scope = self.scope or ("network" if kind == "bytes" else "prunable")
        return Budget(kind, amount, scope)

    @staticmethod
    def settings(budget: Budget | None) -> dict[str, object]:
        """The fields that ask for ``budget``.

        >>> BudgetChoice(**BudgetChoice.settings(Budget.rate(0.9))).budget
        Budget(kind='rate', amount=0.9, scope='prunable')
        """
        found: dict[str, object] = {field.name: None for field in fields(BudgetChoice)}
        return found if budget is None else found | {budget.kind: budget.amount, "scope": budget.scope}
