"""What is asked of a training for many budgets: its recipe, and budgets within its range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from bandstop.engine.recipe import Recipe
from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.errors import BudgetError, ConfigError
from bandstop.method.budget import Budget

__all__ = ["bound_to", "check_covered", "check_many_rates", "check_sweep"]


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


def check_many_rates(recipe: Recipe) -> None:
    """Refuse a recipe that leaves it to chance how many connections pass.

    >>> check_many_rates(Recipe.held())
    """
    if recipe.threshold == "prior":
        raise ConfigError(
            "many rates at once need thresholds that keep to their rates, from the latents' own quantiles "
            '(threshold="empirical") or those of a prior that they are held to ("held"), found "prior"'
        )
    if recipe.count != "exact":
        raise ConfigError('many rates at once have exact counts (count="exact")')


def check_sweep(begin: float, end: float, average: float, waypoints: int) -> None:
    """Refuse moments that are no shares of a training in their order, and fewer than one waypoint.

    >>> check_sweep(0.3, 0.95, 0.02, 16)
    """
    if not 0 <= begin <= end <= 1:
        raise ConfigError(
            "the rate comes to the lowest at begin and to the highest at end, shares of the training with "
            f"0 ≤ begin ≤ end ≤ 1, found {begin} and {end}"
        )
    if not 0 <= average <= 1:
        raise ConfigError(f"average must be a share of the training from 0 to 1, found {average}")
    if isinstance(waypoints, bool) or not isinstance(waypoints, int) or waypoints < 1:
        raise ConfigError(f"waypoints must be a whole number of at least 1, found {waypoints!r}")
