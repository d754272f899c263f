"""Many rates from latents that are held to a prior: every threshold is arithmetic."""

import copy
from dataclasses import replace

import pytest
import torch
from torch import nn

from bandstop import Budget, Recipe, trace
from bandstop.engine.multirate.pruner import MultiRatePruner
from bandstop.engine.multirate.recipes import many_rates_recipe
from bandstop.engine.select import topk
from bandstop.engine.select.topk import select
from bandstop.errors import ConfigError
from bandstop.method.chart import BASE
from bandstop.method.priors import Gaussian, Laplace, Prior
from bandstop.method.transport import scale_to_prior

RATES = (0.5, 0.61, 0.8, 0.9, 0.95, 0.98)
INPUTS = torch.randn(64, 48, generator=torch.Generator().manual_seed(1))
HELD = many_rates_recipe(Gaussian(1.0), held=True)
Named = dict[str, torch.Tensor]


def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(48, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 4)
    )


def begun(steps: int = 40, **more: object) -> tuple[MultiRatePruner, torch.optim.Optimizer]:
    model, settings = net(), {"recipe": HELD, "example": INPUTS[:1], **more}
    pruner = MultiRatePruner(model, (0.5, 0.98), steps=steps, **settings)
    return pruner, torch.optim.Adam(pruner.parameter_groups(1e-2))


def train(pruner: MultiRatePruner, optimiser: torch.optim.Optimizer, steps: int) -> None:
    for _ in range(steps):
        optimiser.zero_grad()
        for _ in pruner.passes():
            nn.functional.cross_entropy(pruner.model(INPUTS), INPUTS[:, :4].argmax(1)).backward()
        optimiser.step()
        pruner.step()


def trained(steps: int = 40, **more: object) -> MultiRatePruner:
    pruner, optimiser = begun(steps, **more)
    train(pruner, optimiser, steps)
    return pruner


def quantiles(
    pruner: MultiRatePruner, values: dict[str, torch.Tensor], rate: float
) -> dict[str, torch.Tensor]:
    """``s·F⁻¹(1 − k/n)``, worked out by hand."""
    counts, prior = pruner._counts_at(rate, 1.0), pruner.recipe.trained_prior
    return {
        name: scale_to_prior(value, prior) * prior.magnitude_quantile(1 - counts[name] / value.numel())
        for name, value in values.items()
    }


@pytest.mark.parametrize("prior", [Gaussian(1.0), Laplace(1.0)])
def test_thresholds_of_every_rate_are_the_priors_quantiles(prior: Prior) -> None:
    pruner, optimiser = begun(recipe=replace(many_rates_recipe(prior, held=True), freeze=1.0))
    train(pruner, optimiser, 40)  # the ramp has ended
    latents = pruner.layers.latents()
    for rate in RATES:
        pruner._turn_to(rate)
        expected = quantiles(pruner, latents, rate)
        for layer in pruner.layers:
            assert layer.band is not None
            torch.testing.assert_close(layer.band.threshold, expected[layer.name])
            passing = float((layer.effective() != 0).float().mean())
            asked = pruner.counts[layer.name] / layer.latent.numel()
            assert passing == pytest.approx(asked, abs=0.01 if layer.latent.numel() > 1000 else 0.02)


def test_a_fixed_order_keeps_its_quantiles_while_the_weights_train_on() -> None:
    pruner, optimiser = begun()
    train(pruner, optimiser, 25)
    assert pruner.settled
    order = {name: value.clone() for name, value in pruner._ranked().items()}
    before = quantiles(pruner, order, 0.9)
    train(pruner, optimiser, 10)
    pruner._turn_to(0.9)
    for layer in pruner.layers:
        assert layer.band is not None
        torch.testing.assert_close(layer.band.threshold, before[layer.name])
        assert not torch.equal(layer.latent.detach().abs(), order[layer.name])


def test_training_neither_sorts_nor_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a threshold was looked for among the latents")

    pruner, optimiser = begun(recipe=replace(HELD, freeze=1.0))
    monkeypatch.setattr(topk, "threshold_for", refuse)
    monkeypatch.setattr("bandstop.engine.multirate.shared.threshold_for", refuse)
    monkeypatch.setattr("bandstop.engine.thresholds.count_above", refuse)
    train(pruner, optimiser, 40)


@pytest.mark.parametrize("prior", [Gaussian(1.0), Laplace(1.0)])
@pytest.mark.parametrize("rate", RATES)
def test_extraction_is_exact_and_live(prior: Prior, rate: float) -> None:
    pruner = trained(recipe=many_rates_recipe(prior, held=True))
    found = trace(pruner.extract(rate, [INPUTS]), INPUTS[:1])
    assert found.kept == found.live == Budget.rate(rate).connections(prunable=found.total)


@pytest.mark.parametrize("rate", RATES)
def test_the_exact_count_moves_few_weights_against_the_quantile(rate: float) -> None:
    pruner = trained()
    found = pruner._extraction(rate)
    order, size = pruner._ranked(), pruner.bound.prunable
    thresholds = quantiles(pruner, order, found.rate)
    counted = {name: select(order[name], count) for name, count in found.counts.items()}
    moved = sum(int(((order[n] > thresholds[n]) != mask).sum()) for n, mask in counted.items())
    assert moved < 0.002 * size, (moved, size)  # that dead ones are replaced is another matter


def test_extraction_without_an_example_moves_hardly_any() -> None:
    pruner = trained(example=None)
    for rate in RATES:
        thresholds, masks = quantiles(pruner, pruner._ranked(), rate), pruner.masks(rate)
        moved = sum(int(((pruner._ranked()[n] > thresholds[n]) != m).sum()) for n, m in masks.items())
        assert moved < 0.002 * pruner.bound.prunable


@pytest.mark.parametrize("prior", [Gaussian(1.0), Laplace(1.0)])
@pytest.mark.parametrize("stop", [10, 30])
def test_resumed_bit_for_bit(prior: Prior, stop: int) -> None:
    """Before and after the order of the connections is fixed."""
    recipe = many_rates_recipe(prior, held=True)
    first, optimiser = begun(recipe=recipe)
    train(first, optimiser, stop)
    saved = copy.deepcopy((first.state_dict(), first.model.state_dict(), optimiser.state_dict()))
    train(first, optimiser, 40 - stop)
    second, again = begun(recipe=recipe, seed=7)
    second.load_state_dict(saved[0])
    second.model.load_state_dict(saved[1])
    again.load_state_dict(saved[2])
    train(second, again, 40 - stop)
    for name, value in first.model.state_dict().items():
        assert torch.equal(value, second.model.state_dict()[name]), name
    one, two = first.extract(0.9, [INPUTS]), second.extract(0.9, [INPUTS])
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_coordinates_end_without_a_jump() -> None:
    """Where a prior is held in gaussian coordinates, weights keep their values when the order is fixed."""
    pruner, optimiser = begun(recipe=many_rates_recipe(Laplace(1.0), held=True))
    train(pruner, optimiser, 23)
    assert not pruner.settled and pruner.recipe.trained_prior == BASE
    pruner._turn_to(0.9)
    before = {layer.name: layer.effective() for layer in pruner.layers}
    pruner._fix_order()
    pruner._turn_to(0.9)
    for layer in pruner.layers:
        torch.testing.assert_close(layer.effective(), before[layer.name], atol=1e-5, rtol=1e-4)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match="keep to their rates"):
        begun(recipe=replace(Recipe.paper(), count="exact"))
    with pytest.raises(ConfigError, match="gaussian prior"):
        begun(recipe=many_rates_recipe(Laplace(1.0), held=True), follow=True)
    with pytest.raises(ConfigError, match="nested"):
        begun(recipe=replace(HELD, allocation="adapted"))
