"""Budgets that are asked of a training for many: bound to the same network, and within its range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.errors import BudgetError
from bandstop.method.budget import Budget

__all__ = ["bound_to", "check_covered"]


def bound_to(
    bound: BoundBudget, budget: Budget | float, model: nn.Module, latents: Mapping[str, Tensor], example: Any
) -> BoundBudget:
    """Another ``budget``, a rate if it is a number, for the network that ``bound`` is for.

    >>> bound = BoundBudget(Budget.rate(0.9), {"a": 100}, unpruned=0, floor=1, uses={})
    >>> bound_to(bound, 0.8, nn.Linear(10, 10), {}, None).connections
    20
    """
    asked = budget if isinstance(budget, Budget) else Budget.rate(budget)
    if asked.kind != "macs":
        return replace(bound, budget=asked)
    return BoundBudget.of(model, latents, asked, bound.floor, example)


def check_covered(rates: tuple[float, float], total: int, kept: int) -> None:
    """Refuse a budget of ``kept`` connections of ``total`` that a training for ``rates`` did not cover.

    >>> check_covered((0.5, 0.9), 100, 20)
    """
    fewest, most = (round((1 - rate) * total) for rate in reversed(rates))
    if not fewest <= kept <= most:
        raise BudgetError(
            f"the training covered rates from {rates[0]} to {rates[1]}, {most:,} to {fewest:,} "
            f"connections of {total:,}; found a budget of {kept:,}: choose one between, or train with a "
            "wider range"
        )
