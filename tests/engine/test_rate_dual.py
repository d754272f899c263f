"""The dual variable: what passes the prior's quantile comes to be what was asked for."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from bandstop import Pruner, Recipe
from bandstop.engine.rate_dual import RateDual
from bandstop.errors import ConfigError
from bandstop.method.priors import Gaussian
from bandstop.method.schedules import Constant


def passing(dual: float, damping: float = 0.0, seen: list[float] | None = None) -> Pruner:
    """A network under a loss that wants all of its latents large, trained with the paper's recipe.

    ``seen`` gets the rate after each step.
    """
    torch.manual_seed(0)
    model = nn.Linear(60, 60)
    recipe = Recipe.paper(Gaussian(1.0))
    recipe = replace(recipe, count="passing", dual=dual, dual_damping=damping, temperature=Constant(2.0))
    pruner = Pruner(model, 0.9, steps=400, recipe=recipe)
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=1e-2, latent_lr=2e-2))
    wanted, x = 3 * torch.randn(60, 60), torch.randn(64, 60)
    for _ in range(300):
        loss = (model(x) - x @ wanted).square().mean() + pruner.penalty()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        pruner.step()
        if seen is not None:
            seen.append(pruner.rate)
    return pruner


def test_the_observed_rate_comes_to_the_asked_one() -> None:
    free, steered = passing(0.0), passing(5.0)
    assert free.rate < 0.8
    assert abs(steered.rate - 0.9) < 0.02
    assert steered.dual is not None and steered.dual.value > 0


def test_damping_takes_the_swing_out_of_the_rate() -> None:
    """A fast dual variable swings by seven points around 90 % here; damped by two."""
    swinging: list[float] = []
    damped: list[float] = []
    passing(100.0, seen=swinging)
    passing(100.0, damping=300.0, seen=damped)
    assert max(damped) - min(damped) < 0.5 * (max(swinging) - min(swinging))
    assert abs(damped[-1] - 0.9) < abs(swinging[-1] - 0.9)


def test_the_penalty_pulls_what_passes_below_the_threshold() -> None:
    dual = RateDual(speed=1.0)
    dual.step(passing=200, asked=100)
    latent = torch.tensor([-1.1, 0.95, 0.0, 5.0], requires_grad=True)
    dual.penalty({"a": latent}, {"a": torch.tensor(1.0)}).backward()
    assert latent.grad is not None
    assert latent.grad[0] < 0 < latent.grad[1]
    assert latent.grad[2:].abs().max() < 1e-3


def test_a_saved_state_goes_on_with_the_same_multiplier() -> None:
    first = passing(1.0, damping=50.0)
    assert first.dual is not None
    recipe = first.recipe
    second = Pruner(nn.Linear(60, 60), 0.9, steps=400, recipe=recipe)
    second.load_state_dict(first.state_dict())
    assert second.dual is not None and second.dual.value == first.dual.value
    assert first.dual.step(400, 360) == second.dual.step(400, 360)


def test_a_state_of_before_there_was_damping_is_its_multiplier() -> None:
    dual = RateDual(speed=1.0)
    dual.load_state(7.0)
    assert (dual.value, dual.step(passing=150, asked=100)) == (7.0, 7.5)


def test_it_needs_the_threshold_of_the_prior() -> None:
    with pytest.raises(ConfigError, match='set threshold="prior"'):
        Recipe(dual=1.0)


def test_damping_needs_a_dual_variable() -> None:
    with pytest.raises(ConfigError, match="set dual = 1 too"):
        Recipe(threshold="prior", dual_damping=10.0)
