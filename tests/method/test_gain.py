"""The gain for lost variance, against the integral that it tabulates."""

import math

import pytest
import torch

from bandstop.method.gain import VarianceGain
from bandstop.method.gate import Garrote, Gate, Hard, Soft
from bandstop.method.priors import Gaussian, Laplace, Prior, prior_magnitudes


@pytest.mark.parametrize("gate", [Soft(), Hard(), Garrote()], ids=lambda gate: type(gate).__name__)
@pytest.mark.parametrize("prior", [Laplace(0.7), Gaussian(1.3)], ids=lambda prior: type(prior).__name__)
@pytest.mark.parametrize("density", [0.9, 0.3, 0.05])
def test_it_is_the_share_of_variance_that_passes(gate: Gate, prior: Prior, density: float) -> None:
    latents = prior_magnitudes(prior, 400_000)
    passed = gate.effective(latents, prior.magnitude_quantile(1 - density))
    share = float(passed.square().mean() / latents.square().mean())
    gain = VarianceGain(prior, gate)
    assert gain.variance(density) == pytest.approx(
        max(share, density), rel=0.06
    )  # between the points of the table
    assert gain(density) == gain.variance(density) ** -0.5


def test_nothing_stopped_asks_for_no_gain_and_almost_everything_for_a_finite_one() -> None:
    gain = VarianceGain(Laplace(1.0), Soft())
    assert gain(1.0) == 1.0
    assert math.isfinite(gain(0.0)) and gain(0.0) == gain(1e-9)
    densities = torch.logspace(-8, 0, 50).tolist()
    gains = [gain(density) for density in densities]
    assert gains == sorted(gains, reverse=True)
