"""Priors against scipy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from torch import Tensor

from bandstop.errors import ConfigError
from bandstop.method.priors import (
    PRIORS,
    Gaussian,
    Laplace,
    Prior,
    StudentT,
    Uniform,
    prior,
    prior_magnitudes,
    rank_transform,
)
from bandstop.method.priors_tabulated import Tabulated

ORACLES = {
    "uniform": (Uniform(0.7), stats.uniform(-0.7, 1.4)),
    "gaussian": (Gaussian(0.7), stats.norm(scale=0.7)),
    "laplace": (Laplace(0.7), stats.laplace(scale=0.7)),
    "cauchy": (StudentT(0.7, dof=1), stats.t(1, scale=0.7)),
    "student2": (StudentT(0.7, dof=2), stats.t(2, scale=0.7)),
    "student3": (StudentT(0.7), stats.t(3, scale=0.7)),
    "student8": (StudentT(0.7, dof=8), stats.t(8, scale=0.7)),
}
RATES = [0.0, 0.01, 0.3, 0.55, 0.8, 0.95, 0.99, 0.9999]
each_oracle = pytest.mark.parametrize(("ours", "oracle"), ORACLES.values(), ids=ORACLES.keys())


@each_oracle
def test_density_and_cdf_agree_with_scipy(ours: Prior, oracle: stats.rv_continuous) -> None:
    x = torch.linspace(-8, 8, 1001, dtype=torch.float64)
    np.testing.assert_allclose(ours.density(x), oracle.pdf(x), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(ours.cdf(x), oracle.cdf(x), rtol=1e-12, atol=1e-14)


@each_oracle
def test_quantile_of_the_magnitude_agrees_with_scipy(ours: Prior, oracle: stats.rv_continuous) -> None:
    found = [ours.magnitude_quantile(rate) for rate in RATES]
    np.testing.assert_allclose(found, oracle.ppf(0.5 + np.array(RATES) / 2), rtol=1e-9, atol=1e-15)


@each_oracle
def test_std_support_and_bins_agree_with_scipy(ours: Prior, oracle: stats.rv_continuous) -> None:
    assert ours.std == pytest.approx(oracle.std() if ours != StudentT(0.7, dof=1) else math.inf)
    limit = ours.support(0.99)
    assert oracle.cdf(limit) - oracle.cdf(-limit) == pytest.approx(1.0 if isinstance(ours, Uniform) else 0.99)
    edges = torch.linspace(-limit, limit, 101, dtype=torch.float64)
    mass = np.diff(oracle.cdf(edges))
    probabilities = ours.bin_probabilities(edges)
    assert float(probabilities.sum()) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(probabilities, mass / mass.sum(), rtol=1e-9, atol=1e-14)


@each_oracle
def test_samples_follow_the_law_and_the_seed(ours: Prior, oracle: stats.rv_continuous) -> None:
    def draw(seed: int) -> Tensor:
        return ours.sample((100, 200), generator=torch.Generator().manual_seed(seed))

    first = draw(0)
    assert first.shape == (100, 200) and first.dtype == torch.float32
    assert torch.equal(first, draw(0)) and not torch.equal(first, draw(1))
    assert stats.kstest(first.flatten().numpy(), oracle.cdf).pvalue > 1e-3


@given(
    name=st.sampled_from(sorted(PRIORS)),
    scale=st.floats(1e-3, 1e3),
    rate=st.floats(0, 0.999),
)
@settings(deadline=None)
def test_quantile_inverts_the_magnitude_cdf_at_any_scale(name: str, scale: float, rate: float) -> None:
    chosen = prior(name, scale)
    a = chosen.magnitude_quantile(rate)
    assert float(chosen.magnitude_cdf(torch.tensor(a, dtype=torch.float64))) == pytest.approx(rate, abs=1e-9)
    assert a == pytest.approx(scale * prior(name).magnitude_quantile(rate), rel=1e-9, abs=1e-12)


@dataclass(frozen=True)
class Triangular(Prior):
    """A user's own prior, only the three things that a prior must know."""

    @property
    def std(self) -> float:
        return self.scale / math.sqrt(6)

    def density(self, x: Tensor) -> Tensor:
        return (1 - x.abs() / self.scale).clamp_min(0) / self.scale

    def magnitude_cdf(self, a: Tensor) -> Tensor:
        return 1 - (1 - a / self.scale).clamp(0, 1) ** 2


def test_a_new_prior_is_three_short_methods() -> None:
    oracle = stats.triang(0.5, loc=-2, scale=4)
    ours = Triangular(2.0)
    found = [ours.magnitude_quantile(rate) for rate in RATES]
    np.testing.assert_allclose(found, oracle.ppf(0.5 + np.array(RATES) / 2), rtol=1e-9, atol=1e-12)
    x = torch.linspace(-3, 3, 61, dtype=torch.float64)
    np.testing.assert_allclose(ours.cdf(x), oracle.cdf(x), atol=1e-12)
    draws = ours.with_std(1.0).sample((20_000,), generator=torch.Generator().manual_seed(0))
    assert float(draws.std()) == pytest.approx(1.0, rel=0.02)


def test_tabulated_agrees_with_scipys_histogram_distribution() -> None:
    edges, mass = [-3.0, -1.0, -0.5, 0.25, 2.0], [0.1, 0.4, 0.0, 0.5]
    ours = Tabulated(edges, mass)
    oracle = stats.rv_histogram((np.array(mass), np.array(edges)), density=False)
    x = torch.linspace(-4, 4, 321, dtype=torch.float64) + 1e-3
    np.testing.assert_allclose(ours.density(x), oracle.pdf(x), atol=1e-12)
    np.testing.assert_allclose(ours.cdf(x), oracle.cdf(x), atol=1e-12)
    assert ours.std == ours.scale == pytest.approx(oracle.std())
    for rate in RATES:
        a = ours.magnitude_quantile(rate)
        assert oracle.cdf(a) - oracle.cdf(-a) == pytest.approx(rate, abs=1e-12)
    draws = ours.sample((20_000,), generator=torch.Generator().manual_seed(0)).numpy()
    assert stats.kstest(draws, oracle.cdf).pvalue > 1e-3
    assert ours.with_scale(2.0).std == pytest.approx(2.0)
    np.testing.assert_allclose(ours.bin_probabilities(torch.tensor(edges)), mass, atol=1e-12)


def test_a_table_stands_for_samples_and_for_a_density() -> None:
    draws = Laplace(0.3).sample((200_000,), generator=torch.Generator().manual_seed(0))
    observed = Tabulated.from_samples(draws)
    given_density = Tabulated.from_density(lambda x: torch.exp(-x.abs() / 0.3), limit=6.0, cells=4000)
    for rate in (0.1, 0.55, 0.8, 0.98):
        exact = Laplace(0.3).magnitude_quantile(rate)
        empirical = float(draws.abs().double().quantile(rate))
        assert observed.magnitude_quantile(rate) == pytest.approx(empirical, rel=5e-3)
        assert given_density.magnitude_quantile(rate) == pytest.approx(exact, rel=2e-3)
    assert hash(observed) == hash(Tabulated.from_samples(draws)) and observed == Tabulated.from_samples(draws)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: prior("cauchy"), "one of uniform, gaussian, laplace, student, found 'cauchy'"),
        (lambda: Laplace(0.0), "scale must be positive"),
        (lambda: Gaussian(math.nan), "scale must be positive"),
        (lambda: StudentT(1.0, dof=2.5), "whole number"),  # type: ignore[arg-type]
        (lambda: StudentT(1.0, dof=2).with_std(1.0), "from dof = 3 up"),
        (lambda: Laplace(1.0).magnitude_quantile(1.1), "between 0 and 1"),
        (lambda: Uniform(1.0).bin_probabilities(torch.tensor([2.0, 3.0])), "found no mass"),
        (lambda: Tabulated([0, 1], [0.5, 0.5]), "one edge more"),
        (lambda: Tabulated([0, 2, 1], [0.5, 0.5]), "rising"),
        (lambda: Tabulated([0, 1, 2], [0.5, -0.5]), "none negative"),
        (lambda: Tabulated([0, 1, 2], [0.5, 0.5]).with_scale(-1), "scale must be positive"),
        (lambda: Tabulated.from_centres([0.0], [1.0]), "at least two centres"),
        (lambda: Tabulated.from_samples(torch.zeros(10)), "two different values"),
        (lambda: Tabulated.from_density(torch.exp, limit=-1), "limit must be positive"),
    ],
)
def test_errors_state_the_rule_and_what_was_found(make: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()  # type: ignore[operator]


@given(st.lists(st.floats(-9, 9, width=32), min_size=1, max_size=40, unique_by=abs))
@settings(deadline=None, max_examples=40)
def test_the_rank_transform_keeps_order_and_signs_and_takes_the_priors_magnitudes(
    weights: list[float],
) -> None:
    given_weights = torch.tensor(weights)
    latent = rank_transform(given_weights, Laplace(0.7))
    torch.testing.assert_close(
        latent.abs().sort().values, prior_magnitudes(Laplace(0.7), len(weights)).float()
    )
    assert torch.equal(latent.abs().argsort(), given_weights.abs().argsort())
    assert torch.equal(latent < 0, given_weights < 0)
