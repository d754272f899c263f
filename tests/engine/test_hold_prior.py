"""A prior that holds: the analytic quantile alone meets the budget while the network learns."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from bandstop import Pruner, Recipe
from bandstop.engine.prior_fit import fit_of_layers
from bandstop.method.priors import Gaussian, Laplace, Prior, StudentT, Uniform
from bandstop.method.priors_tabulated import Tabulated
from bandstop.method.schedules import Constant
from tests.engine.small_nets import kept, mlp, train

PRIORS = [Uniform(1.0), Gaussian(1.0), Laplace(1.0), StudentT(1.0), Tabulated([-2, -1, 1, 2], [1, 2, 1])]


def wide() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(12, 240), nn.ReLU(), nn.Linear(240, 5))


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
@pytest.mark.parametrize("rate", [0.55, 0.95])
def test_the_prior_holds_from_the_end_of_the_ramp(prior: Prior, rate: float) -> None:
    model = wide()
    recipe = replace(Recipe.held(prior), hold=Constant(1.0), every=1)
    pruner = Pruner(model, rate, steps=30, recipe=recipe)
    train(model, pruner, 22)
    assert not pruner.frozen and pruner.progress > 0.7
    assert abs(pruner.rate - rate) < 0.002
    assert max(fit.kl for fit in fit_of_layers(pruner).values()) < 0.01
    train(model, pruner, 8)
    assert kept(pruner.finalize()) == round((1 - rate) * 17 * 240)


def test_the_default_does_not_hold_it() -> None:
    model = wide()
    pruner = Pruner(model, 0.95, steps=30)
    train(model, pruner, 22)
    pruner.recipe = Recipe.held(Laplace(1.0))
    assert max(fit.kl for fit in fit_of_layers(pruner).values()) > 0.02


def test_layers_that_compete_get_one_density() -> None:
    pruner = Pruner(wide(), 0.9, steps=10, recipe=replace(Recipe.held(), allocation="learned"))
    counts = pruner.thresholds.counts(1.0, {layer.name: layer.latent.detach() for layer in pruner.layers})
    assert counts == {"0.weight": 288, "2.weight": 120}


@pytest.mark.parametrize("row", [0, 3, 9])
def test_padding_stays_zero(row: int) -> None:
    model = nn.Sequential(nn.Embedding(10, 8, padding_idx=row), nn.Flatten(), nn.Linear(16, 4))
    pruner = Pruner(
        model, 0.5, steps=10, recipe=replace(Recipe.held(), hold=Constant(1.0), every=1, live=False)
    )
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=0.1))
    for _ in range(4):
        optimiser.zero_grad()
        model(torch.randint(10, (32, 2))).square().mean().backward()
        optimiser.step()
        pruner.step()
    assert not bool(pruner.layers[0].latent[row].any())
    assert bool(pruner.layers[0].latent[(row + 1) % 10].any())


def test_small_networks_end_exact() -> None:
    model = mlp()
    pruner = Pruner(model, 0.9, steps=25, recipe=Recipe.held())
    train(model, pruner, 25)
    assert kept(pruner.finalize()) == 75
