"""The linear-time histogram and penalty against the literal n × K formula, and what must hold of them."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bandstop.method.histogram.kl import Bins, kl_divergence, kl_to_prior, soft_histogram
from bandstop.method.histogram.soft import UNFOLDED
from bandstop.method.priors import Gaussian, Laplace, Uniform, prior
from bandstop.method.priors_tabulated import Tabulated
from tests.method.backends import BACKENDS, using
from tests.method.literal_histogram import (
    assert_close_to_literal,
    gradient,
    kl_alone,
    literal_histogram,
    literal_penalty,
)


def cases(bins: Bins) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    edges, centres = bins.edges().float(), bins.centres().float()
    return {
        "one": torch.tensor([0.1]),
        "few": torch.randn(10, generator=generator),
        "random": torch.randn(20_000, generator=generator) * bins.limit / 2.5,
        "from laplace": Laplace(1.0).sample((30_000,), generator=generator),
        "edges and centres": torch.cat((edges, centres, edges.nextafter(torch.tensor(-9e9)))),
        "across the range": torch.linspace(-1.3 * bins.limit, 1.3 * bins.limit, 5003),
        "partly far outside": torch.cat(
            (torch.randn(50, generator=generator), torch.tensor([1e3, -40.0, 1e30]))
        ),
        "one bin": torch.full((50,), 0.03),
        "all zero": torch.zeros(50),
    }


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", cases(Bins(1.0)).keys())
@pytest.mark.parametrize(
    ("name", "count"), [("laplace", 100), ("gaussian", 33), ("uniform", 100), ("student", 8)]
)
def test_value_and_gradient_equal_the_literal_formula(name: str, count: int, case: str, backend: str) -> None:
    chosen = prior(name, 0.8)
    bins = Bins.covering(chosen, count)
    weights = cases(bins)[case].requires_grad_()
    expected = literal_penalty([weights], chosen, bins)
    with using(backend):
        found = kl_to_prior([weights], chosen, bins)
        slope = gradient(found, [weights])
        counts = soft_histogram(weights, bins)
    assert float(found.detach()) == pytest.approx(float(expected.detach()), rel=1e-4, abs=1e-9)
    typical = 1 / (weights.numel() * bins.width)  # at zero a symmetric sum cancels: relative to what?
    assert_close_to_literal(slope, gradient(expected, [weights]), typical)
    assert_close_to_literal(counts, literal_histogram(weights, bins))


@pytest.mark.parametrize("pooled", [True, False])
def test_float64_gradcheck(pooled: bool) -> None:
    torch.manual_seed(0)
    bins = Bins(2.0, 12)
    values = [
        torch.linspace(-2.9, 2.8, 23, dtype=torch.float64).requires_grad_(),
        torch.randn(3, 4, dtype=torch.float64).requires_grad_(),
    ]
    assert torch.autograd.gradcheck(lambda *v: kl_to_prior(v, Laplace(0.5), bins, pooled=pooled), values)
    assert torch.autograd.gradcheck(lambda *v: soft_histogram(v, bins), values)


def test_float64_equals_the_literal_formula_to_a_dozen_digits() -> None:
    weights = torch.linspace(-6, 6, 2001, dtype=torch.float64).requires_grad_()
    expected, found = (f([weights], Gaussian(1.0), Bins(5.0)) for f in (literal_penalty, kl_to_prior))
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)
    torch.testing.assert_close(
        gradient(found, [weights]), gradient(expected, [weights]), rtol=1e-9, atol=1e-14
    )


@pytest.mark.parametrize("pooled", [True, False])
def test_fused_and_torch_paths_give_the_same_numbers(pooled: bool) -> None:
    chosen, generator = Laplace(0.4), torch.Generator().manual_seed(1)
    values = [
        chosen.sample((n,), generator=generator).mul_(1.5).requires_grad_() for n in (70_001, 513, 200_003)
    ]
    found = []
    for backend in BACKENDS:
        with using(backend):
            penalty = kl_to_prior(values, chosen, pooled=pooled)
            found.append((penalty, gradient(penalty, values)))
    (one, first), (other, second) = found
    torch.testing.assert_close(one, other, rtol=1e-5, atol=0)
    assert float((first - second).abs().max()) <= 1e-5 * float(first.abs().max())


@pytest.mark.parametrize("backend", BACKENDS)
def test_more_weights_than_a_table_holds_unfolded(backend: str) -> None:
    bins, weights = Bins(1.0, 4), torch.full((UNFOLDED * 2 + 77,), 0.25)
    with using(backend):
        counts = soft_histogram(weights, bins)
    torch.testing.assert_close(
        counts, literal_histogram(weights[:1], bins) * weights.numel(), rtol=1e-5, atol=1e-3
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_weights_outside_the_range_are_pulled_back_at_any_distance(backend: str) -> None:
    chosen = Laplace(1.0)
    bins = Bins.covering(chosen)
    inside = chosen.sample((5_000,), generator=torch.Generator().manual_seed(0)).clamp(
        -bins.limit, bins.limit
    )
    distance = torch.tensor([0.5, 1.0, 2.0, 10.0, 1e4]) * bins.width
    far = torch.cat((bins.limit + distance, -bins.limit - distance)).requires_grad_()
    with using(backend):
        (slope,) = torch.autograd.grad(kl_to_prior([inside, far], chosen, bins), far)
        (without,) = torch.autograd.grad(kl_alone([inside, far], chosen, bins), far)
        assert float(kl_to_prior([inside], chosen, bins) - kl_alone([inside], chosen, bins).float()) == 0
    assert bool((slope * far.sign() > 0).all())
    assert float(without[[3, 4, 8, 9]].abs().max()) < 1e-15, "only ρ reaches that far"


def test_descent_brings_weights_back_to_the_range_and_fits_the_prior() -> None:
    chosen, generator = Gaussian(1.0), torch.Generator().manual_seed(0)
    bins = Bins.covering(chosen, 40)
    weights = Laplace(1.2).sample((4000,), generator=generator).requires_grad_()
    assert float(weights.detach().abs().max()) > bins.limit + 10 * bins.width
    start = float(kl_to_prior([weights], chosen, bins).detach())
    optimiser = torch.optim.Adam([weights], lr=0.1)
    for _ in range(100):
        optimiser.zero_grad()
        kl_to_prior([weights], chosen, bins).backward()
        optimiser.step()
    assert float(weights.detach().abs().max()) < bins.limit + bins.width
    end = float(kl_to_prior([weights], chosen, bins).detach())
    assert end < 0.2 * start


@given(
    weights=st.lists(st.floats(-3, 3, width=32), min_size=1, max_size=60),
    count=st.integers(2, 120),
    backend=st.sampled_from(BACKENDS),
)
@settings(deadline=None, max_examples=60)
def test_histogram_properties(weights: list[float], count: int, backend: str) -> None:
    bins, values = Bins(4.0, count), torch.tensor(weights)
    with using(backend):
        counts = soft_histogram(values, bins)
        mirrored = soft_histogram(-values, bins).flip(0)
        twice = soft_histogram([values, values], bins)
        assert float(kl_alone([values], Laplace(0.5), bins)) >= 0
    far_inside = values[values.abs() < bins.limit - 3 * bins.width]
    if far_inside.numel() == values.numel():
        # Σ_k exp(−4(u − k)²) = √π/2 · (1 ± 2·exp(−π²/4)) wherever u lies between the centres
        per_weight = float(counts.sum()) / values.numel()
        assert 0.886 * 0.83 < per_weight < 0.887 * 1.17
    torch.testing.assert_close(counts, mirrored, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(twice, 2 * counts, rtol=1e-5, atol=1e-6)


def test_kl_divergence_of_the_same_is_zero_and_of_an_empty_bin_is_finite() -> None:
    p = torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], dtype=torch.float64)
    torch.testing.assert_close(kl_divergence(p, p), torch.zeros(2, dtype=torch.float64), atol=1e-7, rtol=0)
    assert 5 < float(kl_divergence(p[1], p[0])) < 10
    assert Tabulated([-1, 0, 1], [0, 1]).bin_probabilities(torch.tensor([-1.0, 0, 1]))[0] == 0
    assert bool(kl_to_prior([torch.full((4,), 0.5)], Tabulated([-1, 0, 1], [0, 1])).isfinite())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_weight_that_is_not_finite_shows_in_the_loss(bad: float, backend: str) -> None:
    with using(backend):
        penalty = kl_to_prior([torch.tensor([0.1, bad, 0.3])], Uniform(1.0))
    assert not bool(penalty.isfinite())


def test_only_outliers_have_a_finite_penalty_and_a_pull() -> None:
    weights = torch.tensor([50.0, -70.0]).requires_grad_()
    (slope,) = torch.autograd.grad(kl_to_prior([weights], Uniform(1.0)), weights)
    assert slope.sign().tolist() == [1, -1] and bool(slope.isfinite().all())
