"""Divergence between the latent weights' soft histogram and a prior, in linear time and little memory.

    Q(q_k) ∝ Σ_w exp(−(w − q_k)²/β²),  β = half a bin,      penalty = KL(P‖Q) + mean_w ρ(w)

The histogram hardly sees a weight outside the bins' range [−T, T], so ρ pulls it back: with bins of width h,
x = (|w| − T)₊/h and c = min(x, 1), ρ = c·(x − c/2). It is zero inside the range, quadratic over the first bin
outside and linear beyond: the pull grows to 1/(n·h) and stays there, which outweighs the push of an overfull
edge bin from half a bin outside onwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from bandstop.method.histogram.soft import (
    Bins,
    Groups,
    empty_gradients,
    precision,
    require_weights,
    soft_histogram,
    work_dtype,
)
from bandstop.method.histogram.torch_backend import plain_tensors
from bandstop.method.priors import Prior

__all__ = ["Bins", "kl_divergence", "kl_to_prior", "soft_histogram"]

FLOOR = 1e-8
Reduce = Callable[[Tensor], Tensor]


def kl_divergence(p: Tensor, q: Tensor, floor: float = FLOOR) -> Tensor:
    """KL(P‖Q) = Σ_k P_k·ln(P_k/Q_k) over the last dimension; Q is floored to (Q + ε)/(1 + Kε).

    >>> float(kl_divergence(torch.tensor([0.5, 0.5]), torch.tensor([0.5, 0.5])))
    0.0
    """
    floored = (q + floor) / (1 + q.shape[-1] * floor)
    return torch.xlogy(p, p / floored).sum(-1)


def kl_to_prior(
    values: Sequence[Tensor],
    prior: Prior,
    bins: Bins | None = None,
    *,
    pooled: bool = True,
    reduce: Reduce | None = None,
) -> Tensor:
    """KL(P‖Q) + mean ρ, a scalar to add to the loss; differentiable with respect to ``values``.

    ``pooled``: one histogram of all layers. Otherwise one per layer, and the penalty is their mean weighted
    by the layers' sizes, so that a weight is pulled as hard as when pooled. ``bins`` default to the range
    holding all but 1e-4 of the prior.

    ``reduce`` makes it global over ranks: it gets the statistics, a [groups, K + 2] matrix (K sums, sum of ρ,
    number of weights), and returns their sum over ranks. Each rank then gets the global penalty, and its
    gradient with respect to the rank's own weights.

    >>> from bandstop.method.priors import Laplace
    >>> generator = torch.Generator().manual_seed(0)
    >>> weights = Laplace(1.0).sample((10_000,), generator=generator)
    >>> kl_to_prior([weights], Laplace(1.0)) < 0.1 < kl_to_prior([weights * 2], Laplace(1.0))
    tensor(True)
    """
    require_weights(values, shared=reduce is not None, each=not pooled)
    lengths = [len(values)] if pooled else [1] * len(values)
    bins = bins or _default_bins(prior)
    problem = _Problem(Groups(lengths, bins), _target(prior, bins, values[0].device), reduce)
    penalties, sizes = _Penalties.apply(problem, *values)  # type: ignore[no-untyped-call]
    penalty: Tensor = (penalties * (sizes / sizes.sum())).sum()
    return penalty.to(work_dtype(values))


@dataclass(frozen=True)
class _Problem:
    """Groups of tensors, the prior's probabilities in their bins [K], and how to sum over ranks."""

    groups: Groups
    target: Tensor
    reduce: Reduce | None

    def solve(self, values: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Penalty of each group, number of weights in it, and slopes of the penalty for the statistics.

        With S = Σ_k H_k, Q = H/S and r = P/(Q + ε): ∂KL/∂H_k = (Σ_j Q_j·r_j − r_k)/S.
        """
        statistics = self.groups.statistics(values)
        if self.reduce is not None:
            statistics = self.reduce(statistics)
        counts, tail, sizes = statistics[:, :-2], statistics[:, -2], statistics[:, -1]
        total = counts.sum(-1, keepdim=True).clamp_min(1e-12)  # nothing but weights far outside: no KL slope
        observed = counts / total
        penalties = kl_divergence(self.target, observed) + tail / sizes
        ratio = self.target / (observed + FLOOR)
        slopes = ((observed * ratio).sum(-1, keepdim=True) - ratio) / total
        return penalties, sizes, torch.cat((slopes, (1 / sizes)[:, None]), dim=1)


class _Penalties(torch.autograd.Function):
    """Keeps a few numbers per bin and nothing as large as the weights: the way back locates them again."""

    @staticmethod
    def forward(ctx: Any, problem: _Problem, *values: Tensor) -> tuple[Tensor, Tensor]:
        penalties, sizes, slopes = problem.solve(values)
        ctx.groups, ctx.slopes = problem.groups, slopes
        ctx.save_for_backward(*values)
        ctx.mark_non_differentiable(sizes)
        return penalties, sizes

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, factors: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        gradients = empty_gradients(ctx)
        ctx.groups.add_slopes_(gradients, ctx.saved_tensors, ctx.slopes * factors[:, None])
        return (None, *gradients)


@lru_cache(maxsize=512)
def _default_bins(prior: Prior) -> Bins:
    with plain_tensors():
        return Bins.covering(prior)


@lru_cache(maxsize=512)
def _target(prior: Prior, bins: Bins, device: torch.device) -> Tensor:
    with plain_tensors():
        return prior.bin_probabilities(bins.edges()).to(device, precision(device))
