"""Thresholds, counts and gains of all layers at a moment of training."""

import pytest
import torch

from bandstop import Gaussian, Recipe
from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.engine.select.topk import count_above
from bandstop.engine.thresholds import Thresholds
from bandstop.method.budget import Budget

LATENTS = {"a": torch.randn(40, 10, generator=torch.Generator().manual_seed(0)), "b": torch.randn(50)}


def made(recipe: Recipe, budget: Budget | None = None) -> Thresholds:
    sizes = {name: latent.numel() for name, latent in LATENTS.items()}
    bound = BoundBudget(
        budget or Budget.rate(0.9), sizes, unpruned=5, floor=recipe.floor, uses={"a": 3, "b": 1}
    )
    return Thresholds(recipe, bound)


@pytest.mark.parametrize("rule", ["lamp", "erk", "uniform", "learned"])
@pytest.mark.parametrize("ramp", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("budget", [Budget.rate(0.9), Budget.macs(200)], ids=["rate", "macs"])
def test_as_many_pass_as_the_ramp_says(rule: str, ramp: float, budget: Budget) -> None:
    recipe = Recipe(allocation=rule, threshold="empirical")  # type: ignore[arg-type]
    thresholds = made(recipe, budget)
    levels = thresholds.at(ramp, LATENTS)
    passing = count_above(LATENTS, levels.thresholds)
    assert sum(passing.values()) == sum(thresholds.counts(ramp, LATENTS).values())
    assert levels.counts in (None, passing)


def test_the_priors_quantile_is_one_threshold_for_all() -> None:
    prior = Gaussian(1.0)
    levels = made(Recipe(threshold="prior", prior=prior)).at(1.0, LATENTS)
    assert levels.counts is None
    assert all(float(t) == pytest.approx(prior.magnitude_quantile(0.9)) for t in levels.thresholds.values())


def test_gains_follow_each_layers_density_or_the_networks() -> None:
    own = made(Recipe(allocation="erk", threshold="empirical"))
    levels = own.at(1.0, LATENTS)
    assert own.gain is not None and levels.counts is not None and levels.gains is not None
    assert levels.gains["b"] == own.gain(levels.counts["b"] / 50) != levels.gains["a"]
    common = made(Recipe(allocation="learned")).at(1.0, LATENTS)
    assert common.gains == dict.fromkeys(LATENTS, own.gain(45 / 450))
    held = made(Recipe(allocation="erk")).at(1.0, LATENTS)  # the asked densities, not those that pass
    assert held.counts is None and held.gains == pytest.approx(levels.gains)
    assert made(Recipe(gain="fixed")).at(1.0, LATENTS).gains is None
