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
from bandstop.method.transport import transported
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


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
def test_the_recipe_as_it_is_holds_any_prior_and_its_weights_have_the_priors_tail(prior: Prior) -> None:
    model = wide()
    pruner = Pruner(model, 0.9, steps=40, recipe=Recipe.held(prior))
    train(model, pruner, 30)
    assert not pruner.frozen and abs(pruner.rate - 0.9) < 0.002
    assert max(fit.kl for fit in fit_of_layers(pruner).values()) < 0.01
    for layer in pruner.layers:
        assert layer.band is not None
        latent, scale = layer.band.latent_of(layer.latent.detach()), fit_of_layers(pruner)[layer.name].scale
        density = pruner.counts[layer.name] / latent.numel()
        expected = prior.magnitude_quantile(1 - density)
        assert float(layer.band.latent_threshold()) / scale == pytest.approx(expected, rel=0.03)
        half = latent.abs()[latent.abs() > layer.band.latent_threshold()].median() / scale
        assert float(half) == pytest.approx(prior.magnitude_quantile(1 - density / 2), rel=0.1)
    before = getattr(*pruner.layers[1].owners[0]).detach().clone()
    pruner.freeze()
    after = getattr(*pruner.layers[1].owners[0]).detach()
    both = (before != 0) & (after != 0)
    assert int(both.sum()) > 50 and torch.allclose(before[both], after[both], rtol=0.3, atol=0.02)


def test_copies_of_a_finished_network_have_its_weights() -> None:
    model = wide()
    pruner = Pruner(model, 0.9, steps=20, recipe=Recipe.held(StudentT(1.0)))
    average = torch.optim.swa_utils.AveragedModel(model, avg_fn=lambda old, new, count: new)
    train(model, pruner, 20)
    average.update_parameters(model)
    for one, two in zip(average.module.buffers(), model.buffers(), strict=True):
        one.copy_(two)
    inputs = torch.randn(7, 12)
    assert torch.allclose(average(inputs), model(inputs), rtol=1e-3, atol=1e-4)


def test_the_priors_own_coordinates_can_be_asked_for() -> None:
    own = replace(Recipe.held(Laplace(1.0)), coordinates="prior")
    pruner = Pruner(wide(), 0.9, steps=10, recipe=own)
    assert own.trained_prior == Laplace(1.0)
    assert all("table" not in dict(layer.band.named_buffers()) for layer in pruner.layers if layer.band)


def test_the_default_holds_it_and_free_latents_do_not_follow() -> None:
    fits = []
    for recipe in (None, replace(Recipe.empirical(), spacing="probability")):
        model = wide()
        pruner = Pruner(model, 0.95, steps=30, recipe=recipe)
        train(model, pruner, 22)
        fits.append(max(fit.kl for fit in fit_of_layers(pruner).values()))
    assert fits[0] < 0.01 < 0.02 < fits[1]


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


def test_a_finished_network_leaves_the_charts_of_others_alone() -> None:
    """In float64 the table of a prior is not converted, and must be copied all the same."""
    pruners = [Pruner(mlp().double(), 0.9, steps=25, recipe=Recipe.held()) for _ in range(2)]
    bands = [pruner.layers[0].band for pruner in pruners]
    before = bands[1].table.clone()  # type: ignore[union-attr,operator]
    pruners[0].freeze()
    assert torch.equal(bands[1].table, before)  # type: ignore[union-attr,arg-type]
    assert not torch.equal(bands[0].table, before)  # type: ignore[union-attr,arg-type]


def test_half_precision_is_mapped_as_finely_as_it_can_be_written() -> None:
    half = torch.randn(20_000, generator=torch.Generator().manual_seed(0)).bfloat16()
    moved = transported(half, Laplace(1.0))
    assert moved.dtype == torch.bfloat16
    off = (moved.float() - transported(half.float(), Laplace(1.0))).abs()
    assert bool((off <= moved.float().abs() / 128).all())


def test_small_networks_end_exact() -> None:
    model = mlp()
    pruner = Pruner(model, 0.9, steps=25, recipe=Recipe.held())
    train(model, pruner, 25)
    assert kept(pruner.finalize()) == 75
