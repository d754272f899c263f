"""Latents that follow any prior in gaussian coordinates."""

import math

import pytest
import torch

from bandstop.method.chart import CELLS, Charted, PassingScale, chart_reach, chart_table
from bandstop.method.gate import Hard, Soft
from bandstop.method.priors import Gaussian, Laplace, Prior, StudentT, Uniform
from bandstop.method.priors_tabulated import Tabulated

PRIORS = [Uniform(1.0), Gaussian(2.0), Laplace(1.0), StudentT(1.0), Tabulated([-2, -1, 1, 2], [1, 2, 1])]


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
def test_gaussian_numbers_become_latents_of_the_prior(prior: Prior) -> None:
    count, spread, scale = 20_000, 7.0, 0.3
    z = spread * Gaussian(1.0).icdf((torch.arange(count, dtype=torch.float64) + 0.5) / count)
    cells = torch.tensor(CELLS / (chart_reach(count) * spread), dtype=torch.float64)
    latent = Charted.apply(z, chart_table(prior, count), cells, torch.tensor(scale, dtype=torch.float64))
    for rate in (0.55, 0.98, 0.995):
        passing = float((latent.abs() > scale * prior.magnitude_quantile(rate)).double().mean())
        assert abs(passing - (1 - rate)) < 5e-4
    assert bool((latent.diff() >= 0).all())


@pytest.mark.parametrize("gate", [Soft(), Hard()], ids=str)
@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
def test_what_passes_has_the_variance_that_it_has_under_a_gaussian(prior: Prior, gate: Soft | Hard) -> None:
    density = 10**-2.1  # between two entries of the table
    fine = (torch.arange(5000, dtype=torch.float64) + 0.5) / 5000

    def rms(of: Prior) -> float:
        passed = gate.effective(of.magnitude_icdf(1 - density * fine), of.magnitude_quantile(1 - density))
        return float(passed.square().mean().sqrt())

    assert math.isclose(PassingScale(prior, gate)(density) * rms(prior), rms(Gaussian(1.0)), rel_tol=0.03)
