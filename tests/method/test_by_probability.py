"""Bins of equal probability: the prior becomes uniform, and the divergence is that of its own bins."""

import pytest
import torch

from bandstop.method.histogram.by_probability import by_probability
from bandstop.method.histogram.kl import Bins, kl_to_prior
from bandstop.method.priors import Gaussian, Laplace, Prior, Uniform


@pytest.mark.parametrize("prior", [Gaussian(0.7), Laplace(1.3)], ids=lambda prior: type(prior).__name__)
def test_draws_become_uniform_and_keep_their_order(prior: Prior) -> None:
    draws = prior.sample((50_000,), generator=torch.Generator().manual_seed(0))
    (seen,), flat = by_probability([draws], prior)
    assert flat == Uniform(1.0) and float(seen.abs().max()) <= 1
    assert torch.equal(seen.argsort()[:100], draws.argsort()[:100])
    assert float(seen.square().mean()) == pytest.approx(1 / 3, rel=0.02)
    assert float(kl_to_prior([seen], flat, Bins(1.0, 50))) < 0.01


def test_gradients_reach_the_values() -> None:
    values = torch.tensor([-3.0, 0.1, 2.0], requires_grad=True)
    seen, flat = by_probability([values], Laplace(1.0))
    kl_to_prior(seen, flat, Bins(1.0, 10)).backward()
    assert values.grad is not None and bool(values.grad.isfinite().all()) and bool(values.grad.any())
