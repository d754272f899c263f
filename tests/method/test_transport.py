"""Values moved to a prior by rank: the order stays, and the prior's quantile becomes the budget."""

import pytest
import torch

from bandstop.method import transport
from bandstop.method.priors import Gaussian, Laplace, Prior, StudentT, Uniform
from bandstop.method.priors_tabulated import Tabulated
from bandstop.method.transport import scale_to_prior, transport_, transported

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


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
@pytest.mark.parametrize("fraction", [0.15, 1.0])
@pytest.mark.parametrize("tabulated", [0, 1 << 20])
def test_in_place_is_the_plain_map(
    prior: Prior, fraction: float, tabulated: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "TABULATED", tabulated)  # quantiles looked up, or computed
    for dtype in (torch.float32, torch.float64):  # compiled where numba is installed, and plain
        values = heavy_tailed(9001).to(dtype)
        expected = transported(values, prior, fraction)
        scale = transport_(values, prior, fraction)
        assert torch.allclose(values, expected, rtol=2e-4, atol=2e-4)
        assert torch.allclose(scale, scale_to_prior(values, prior), rtol=1e-5)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_numbers_that_are_not_finite_do_not_hide(bad: float) -> None:
    values = heavy_tailed(9001)
    values[7] = bad
    transport_(values, Gaussian(1.0), 0.5)
    assert not bool(values.isfinite().all())
    zeros = torch.zeros(9001)
    assert float(transport_(zeros, Gaussian(1.0))) == 0 and not bool(zeros.any())
