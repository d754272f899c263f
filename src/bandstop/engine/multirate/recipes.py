"""Recipes that suit many rates at once, and the refusal of those that cannot serve them."""

from __future__ import annotations

from dataclasses import replace

from bandstop.engine.recipe import Recipe
from bandstop.errors import ConfigError
from bandstop.method.gate import Hard
from bandstop.method.priors import Laplace, Prior
from bandstop.method.schedules import Ramp, Rise
from bandstop.record.prune import (
    HOLD,
    HOLD_FIRST,
    HOLD_POWER,
    MANY_RATES_FREEZE,
    MANY_RATES_LEAK,
    MANY_RATES_RAMP,
)

__all__ = ["check_many_rates", "many_rates_recipe"]


def many_rates_recipe(prior: Prior | None = None, *, held: bool = False) -> Recipe:
    """The default recipe, or the held one, changed where many rates share the latents.

    A hard gate leaves a weight its value at every rate that keeps it, where a soft one would shrink it by
    each rate's threshold. No gradient, or hardly any, leaks to stopped weights: lower rates train them. The
    order of the connections is fixed earlier.

    >>> many_rates_recipe().threshold, many_rates_recipe(held=True).threshold
    ('empirical', 'held')
    """
    return replace(
        Recipe.held(prior or Laplace(1.0)) if held else Recipe.default(prior),
        gate=Hard(leak=MANY_RATES_LEAK if held else 0.0),
        ramp=Ramp(0.0, 1.0, end=MANY_RATES_RAMP),
        hold=Rise(HOLD_FIRST, HOLD, end=MANY_RATES_RAMP, power=HOLD_POWER),
        freeze=MANY_RATES_FREEZE,
    )


def check_many_rates(recipe: Recipe, *, follow: bool) -> None:
    """Refuse a recipe whose thresholds, counts or masks cannot serve many rates.

    >>> check_many_rates(many_rates_recipe(), follow=True)
    """
    if recipe.threshold == "prior":
        raise ConfigError(
            "many rates at once need thresholds that keep to their rates, from the latents' own quantiles "
            '(threshold="empirical") or those of a prior that they are held to ("held"), found "prior"'
        )
    if recipe.count != "exact":
        raise ConfigError('many rates at once have exact counts (count="exact")')
    if recipe.allocation == "adapted":
        raise ConfigError(
            'many rates at once need masks that are nested, which allocation="adapted" does not give: '
            'choose "lamp"'
        )
    if follow and recipe.charted:
        raise ConfigError(
            "gains that follow the rate (follow) are for latents in the prior's own coordinates: choose a "
            'gaussian prior or coordinates="prior"'
        )
