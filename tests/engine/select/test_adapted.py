"""Shares that follow LAMP where latents follow the prior, and the latents where they do not."""

import pytest
import torch

from bandstop import Pruner, Recipe
from bandstop.engine.select.adapted import AdaptedAllocation
from bandstop.engine.select.allocation import LampAllocation, allocate
from bandstop.errors import BudgetError, ConfigError
from bandstop.method.priors import Gaussian, Laplace, Prior, prior_magnitudes
from tests.engine.small_nets import kept, mlp, train

SIZES = {"small": 30, "middle": 400, "large": 5_000}


@pytest.mark.parametrize("prior", [Laplace(1.0), Gaussian(0.5)])
@pytest.mark.parametrize("total", [3, 20, 100, 1_000, 5_000, 5_429, 5_430])
def test_latents_of_the_prior_get_lamp_s_counts(prior: Prior, total: int) -> None:
    latents = {name: prior_magnitudes(prior, size) for name, size in SIZES.items()}
    lamp, found = LampAllocation(prior, SIZES)(total), AdaptedAllocation(prior, SIZES)(total, latents)
    assert sum(found.values()) == total
    assert all(abs(found[name] - lamp[name]) <= 1 for name in SIZES), (found, lamp)


def test_a_layer_that_outgrows_the_prior_takes_from_the_others() -> None:
    prior = Laplace(1.0)
    latents = {name: prior_magnitudes(prior, size) for name, size in SIZES.items()}
    before = AdaptedAllocation(prior, SIZES)(200, latents)
    after = AdaptedAllocation(prior, SIZES)(200, latents | {"middle": 1.5 * latents["middle"]})
    assert sum(after.values()) == 200 and after["middle"] > before["middle"]
    assert after["small"] < before["small"] and after["large"] < before["large"]


def test_no_layer_falls_below_the_floor() -> None:
    latents = {name: torch.full((size,), 1e-9 if name == "small" else 1.0) for name, size in SIZES.items()}
    assert AdaptedAllocation(Laplace(1.0), SIZES, floor=4)(50, latents)["small"] == 4
    with pytest.raises(BudgetError):
        AdaptedAllocation(Laplace(1.0), SIZES, floor=4)(11, latents)


def test_a_training_with_it_ends_at_the_budget() -> None:
    model = mlp()
    pruner = Pruner(model, 0.9, steps=25, recipe=Recipe.finetune())
    train(model, pruner, 25)
    assert kept(pruner.finalize()) == 75


def test_without_a_prior_it_is_refused() -> None:
    with pytest.raises(ConfigError, match="compares latents with a prior"):
        allocate("adapted", 3, {"a": torch.ones(9)})
