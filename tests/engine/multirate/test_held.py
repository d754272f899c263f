"""Many rates from latents that are held to a prior: every threshold is arithmetic."""

import pytest
import torch
from torch import nn

from bandstop import Budget, Recipe, trace
from bandstop.engine.multirate.pruner import MultiRatePruner
from bandstop.engine.select import topk
from bandstop.engine.select.topk import select
from bandstop.method.priors import Gaussian, Laplace, Prior
from bandstop.method.transport import scale_to_prior

RATES = (0.5, 0.61, 0.8, 0.9, 0.95, 0.98)
INPUTS = torch.randn(64, 48, generator=torch.Generator().manual_seed(1))


def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(48, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 4)
    )


def trained(prior: Prior, steps: int = 80, **more: object) -> MultiRatePruner:
    settings = {"recipe": Recipe.held(prior), "example": INPUTS[:1], **more}
    pruner = MultiRatePruner(net(), (0.5, 0.98), steps=steps, **settings)
    optimiser = torch.optim.Adam(pruner.parameter_groups(3e-3))
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.cross_entropy(pruner.model(INPUTS), INPUTS[:, :4].argmax(1)).backward()
        optimiser.step()
        pruner.step()
    return pruner


def quantiles(pruner: MultiRatePruner, rate: float) -> dict[str, torch.Tensor]:
    """``s·F⁻¹(1 − k/n)`` of the averages at a rate, worked out by hand."""
    found, values = pruner._extraction(rate)
    prior = pruner.recipe.trained_prior
    return {
        name: scale_to_prior(value, prior) * prior.magnitude_quantile(1 - found.counts[name] / value.numel())
        for name, value in pruner._latents(values).items()
    }


@pytest.mark.parametrize("prior", [Gaussian(1.0), Laplace(1.0)])
def test_thresholds_of_every_rate_are_the_priors_quantiles(prior: Prior) -> None:
    pruner = trained(prior)
    for rate in RATES:
        found, values = pruner._extraction(rate)
        expected = quantiles(pruner, rate)
        for name, latent in pruner._latents(values).items():
            torch.testing.assert_close(found.thresholds[name], expected[name])
            passing = float((latent.abs() > found.thresholds[name]).float().mean())
            asked = found.counts[name] / latent.numel()
            assert passing == pytest.approx(asked, abs=0.01 if latent.numel() > 1000 else 0.02)


def test_training_neither_sorts_nor_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a threshold was looked for among the latents")

    for place in (
        "bandstop.engine.multirate.shared.threshold_for",
        "bandstop.engine.thresholds.thresholds_for",
        "bandstop.engine.thresholds.count_above",
    ):
        monkeypatch.setattr(place, refuse)
    monkeypatch.setattr(topk, "threshold_for", refuse)
    pruner = trained(Laplace(1.0), steps=40)
    pruner._extraction(0.9)


def test_padding_rows_stay_zero() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(9, 6, padding_idx=4), nn.Flatten(), nn.Linear(18, 3))
    pruner = MultiRatePruner(model, (0.2, 0.8), steps=12)
    optimiser = torch.optim.Adam(pruner.parameter_groups(3e-3))
    for _ in range(12):
        optimiser.zero_grad()
        model(torch.randint(9, (32, 3))).square().mean().backward()
        optimiser.step()
        pruner.step()
    for rate in (0.2, 0.5, 0.8):
        plain = pruner.extract(rate)
        assert not plain[0].weight[4].any()  # type: ignore[index]
        kept = sum(int(plain[i].weight.count_nonzero()) for i in (0, 2))  # type: ignore[index]
        assert kept == Budget.rate(rate).connections(prunable=pruner.bound.prunable)


@pytest.mark.parametrize("prior", [Gaussian(1.0), Laplace(1.0)])
@pytest.mark.parametrize("rate", RATES)
def test_extraction_is_exact_and_live(prior: Prior, rate: float) -> None:
    found = trace(trained(prior).extract(rate, [INPUTS]), INPUTS[:1])
    assert found.kept == found.live == Budget.rate(rate).connections(prunable=found.total)


@pytest.mark.parametrize("rate", RATES)
def test_the_exact_count_moves_few_weights_against_the_quantile(rate: float) -> None:
    pruner = trained(Gaussian(1.0), example=None)
    found, values = pruner._extraction(rate)
    latents, size = pruner._latents(values), pruner.bound.prunable
    counted = {name: select(latents[name].abs(), count) for name, count in found.counts.items()}
    thresholds = quantiles(pruner, rate)
    moved = sum(int(((latents[n].abs() > thresholds[n]) != mask).sum()) for n, mask in counted.items())
    assert moved < 0.002 * size, (moved, size)


def test_the_prior_holds_from_the_lowest_rate_to_the_highest() -> None:
    pruner = trained(Laplace(1.0))
    assert pruner.kl() < 0.02  # type: ignore[operator]
