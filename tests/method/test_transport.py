"""Values moved to a prior by rank: the order stays, and the prior's quantile becomes the budget."""

import pytest
import torch

from bandstop.method.priors import Gaussian, Laplace, Prior, StudentT, Uniform
from bandstop.method.priors_tabulated import Tabulated
from bandstop.method.transport import scale_to_prior, transported

PRIORS = [
    Uniform(2.0),
    Gaussian(1.0),
    Laplace(0.5),
    StudentT(1.0),
    Tabulated([-2, -1, 1, 2], [1, 2, 1]),
    Tabulated([-1, 0, 3], [1, 1]),
]
RATES = [0.55, 0.8, 0.95, 0.98, 0.99, 0.995]


def heavy_tailed(count: int = 20_000) -> torch.Tensor:
    return StudentT(1.0).sample((count,), generator=torch.Generator().manual_seed(0)) + 0.2


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
def test_the_quantile_of_the_prior_is_the_budget(prior: Prior) -> None:
    values = heavy_tailed()
    moved, scale = transported(values, prior), scale_to_prior(values, prior)
    for rate in RATES:
        passing = (moved.abs() > scale * prior.magnitude_quantile(rate)).double().mean()
        assert abs(float(passing) - (1 - rate)) < 5e-4, rate


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
def test_the_order_stays(prior: Prior) -> None:
    values = heavy_tailed()
    for fraction in (0.1, 1.0):
        moved = transported(values, prior, fraction)
        assert bool((moved[values.argsort()].diff() >= -1e-5).all())


def test_a_fraction_of_the_way() -> None:
    values = heavy_tailed()
    whole, part = transported(values, Laplace(1.0)), transported(values, Laplace(1.0), 0.25)
    assert torch.allclose(part, 0.75 * values + 0.25 * whole, atol=1e-5)
    assert torch.equal(transported(values, Laplace(1.0), 0.0), values)


def test_the_scale_stays() -> None:
    values = 7 * heavy_tailed()
    before = scale_to_prior(values, Gaussian(1.0))
    after = scale_to_prior(transported(values, Gaussian(1.0)), Gaussian(1.0))
    assert float(after) == pytest.approx(float(before), rel=1e-3)


def test_values_that_follow_the_prior_stay_where_they_are() -> None:
    values = Gaussian(1.0).sample((50_000,), generator=torch.Generator().manual_seed(1))
    assert float((transported(values, Gaussian(1.0)) - values).abs().mean()) < 0.01


def test_nothing_but_zeros() -> None:
    assert torch.equal(transported(torch.zeros(3, 2), Laplace(1.0)), torch.zeros(3, 2))


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
def test_the_signed_quantile_inverts_the_distribution(prior: Prior) -> None:
    ranks = torch.tensor([0.001, 0.2, 0.4, 0.7, 0.999], dtype=torch.float64)
    assert torch.allclose(prior.cdf(prior.icdf(ranks)), ranks, atol=1e-9)
