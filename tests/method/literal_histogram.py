"""The soft histogram and its penalty as the formulas are written: n × K numbers, in float64."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bandstop.method.histogram.kl import Bins, kl_divergence, soft_histogram
from bandstop.method.priors import Prior

FLOOR = 1e-8


def literal_histogram(values: Tensor, bins: Bins) -> Tensor:
    """Σ_w exp(−(w − q_k)²/β²) as written: an n × K matrix."""
    beta = bins.width / 2
    return torch.exp(-(((values.double().flatten()[:, None] - bins.centres()) / beta) ** 2)).sum(0)


def literal_penalty(values: Sequence[Tensor], chosen: Prior, bins: Bins) -> Tensor:
    """KL(P‖Q) + mean ρ as written, in float64."""
    pool = torch.cat([value.double().flatten() for value in values])
    counts = literal_histogram(pool, bins)
    p, q = chosen.bin_probabilities(bins.edges()), counts / counts.sum()
    q = (q + FLOOR) / (1 + bins.count * FLOOR)
    x = ((pool.abs() - bins.limit) / bins.width).clamp_min(0)
    rho = torch.where(x < 1, x**2 / 2, x - 0.5)
    return torch.special.xlogy(p, p / q).sum() + rho.mean()


def kl_alone(values: Sequence[Tensor], chosen: Prior, bins: Bins) -> Tensor:
    """KL(P‖Q) of the soft histogram without ρ, the pull on weights outside the bins."""
    counts = soft_histogram(values, bins).double()
    return kl_divergence(chosen.bin_probabilities(bins.edges()), counts / counts.sum())


def gradient(penalty: Tensor, values: Sequence[Tensor]) -> Tensor:
    return torch.cat([g.flatten() for g in torch.autograd.grad(penalty, list(values))])


def assert_close_to_literal(found: Tensor, expected: Tensor, scale: float = 0.0) -> None:
    """Largest error within 1e-4 of the largest entry (or of ``scale``)."""
    error = (found.detach().double() - expected.detach().double()).abs().max()
    assert float(error) <= 1e-4 * max(float(expected.detach().abs().max()), scale)
