"""Divergence between the latent weights' soft histogram and a prior, in linear time and little memory.

    Q(q_k) ∝ Σ_w exp(−(w − q_k)²/β²),  β = half a bin,      penalty = KL(P‖Q) + tail_weight · mean_w ρ(w)

The histogram hardly sees a weight outside the bins' range [−T, T], so ρ pulls it back: with bins of width h,
x = (|w| − T)₊/h and c = min(x, 1), ρ = c·(x − c/2). It is zero inside the range, quadratic over the first bin
outside and linear beyond: the pull grows to 1/(n·h) and stays there, which outweighs the push of an overfull
edge bin from half a bin outside onwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import torch
from torch import Tensor

from bandstop.errors import ConfigError
from bandstop.method.histogram.soft import (
    Backend,
    Bins,
    Groups,
    empty_gradients,
    precision,
    require_weights,
    soft_histogram,
    work_dtype,
)
from bandstop.method.histogram.torch_backend import plain_tensors
from bandstop.method.prior_base import Prior

__all__ = ["Bins", "add_kl_gradient_", "kl_divergence", "kl_per_layer", "kl_to_prior", "soft_histogram"]

FLOOR = 1e-8
Reduce = Callable[[Tensor], Tensor]
Weighting = Literal["size", "equal"] | Sequence[float]


def kl_divergence(p: Tensor, q: Tensor, floor: float = FLOOR) -> Tensor:
    """KL(P‖Q) = Σ_k P_k·ln(P_k/Q_k) over the last dimension; Q is floored to (Q + ε)/(1 + Kε).

    >>> float(kl_divergence(torch.tensor([0.5, 0.5]), torch.tensor([0.5, 0.5])))
    0.0
    """
    floored = (q + floor) / (1 + q.shape[-1] * floor)
    return torch.xlogy(p, p / floored).sum(-1)


def kl_per_layer(
    values: Sequence[Tensor],
    prior: Prior | Sequence[Prior],
    bins: Bins | Sequence[Bins] | None = None,
    *,
    tail_weight: float = 1.0,
    reduce: Reduce | None = None,
    backend: Backend = "auto",
) -> Tensor:
    """The penalty of every layer by itself, [L]; one prior and one set of bins for all, or one a layer."""
    problem = _problem(values, prior, bins, False, tail_weight, reduce, backend)
    penalties: Tensor = _Penalties.apply(problem, *values)[0]  # type: ignore[no-untyped-call]
    return penalties.to(work_dtype(values))


def kl_to_prior(
    values: Sequence[Tensor],
    prior: Prior | Sequence[Prior],
    bins: Bins | Sequence[Bins] | None = None,
    *,
    pooled: bool = True,
    weighting: Weighting = "size",
    tail_weight: float = 1.0,
    reduce: Reduce | None = None,
    backend: Backend = "auto",
) -> Tensor:
    """KL(P‖Q) + tail_weight·mean ρ, a scalar to add to the loss; differentiable with respect to ``values``.

    ``pooled``: one histogram of all layers. Otherwise one a layer, and the penalty is their sum weighted by
    ``weighting``: each layer's share of the weights ("size": a weight is pulled as hard as when pooled), 1/L
    ("equal"), or given factors. ``bins`` default to the range holding all but 1e-4 of the prior.

    ``reduce`` makes it global over ranks: it gets the statistics, a [groups, K + 2] matrix (K sums, sum of ρ,
    number of weights), and returns their sum over ranks. Each rank then gets the global penalty, and its
    gradient with respect to the rank's own weights.

    >>> from bandstop.method.priors import Laplace
    >>> generator = torch.Generator().manual_seed(0)
    >>> weights = Laplace(1.0).sample((10_000,), generator=generator)
    >>> kl_to_prior([weights], Laplace(1.0)) < 0.1 < kl_to_prior([weights * 2], Laplace(1.0))
    tensor(True)
    """
    problem = _problem(values, prior, bins, pooled, tail_weight, reduce, backend)
    penalties, sizes = _Penalties.apply(problem, *values)  # type: ignore[no-untyped-call]
    penalty: Tensor = (penalties * _factors(sizes, weighting)).sum()
    return penalty.to(work_dtype(values))


@torch.no_grad()
def add_kl_gradient_(
    params: Sequence[Tensor],
    prior: Prior | Sequence[Prior],
    bins: Bins | Sequence[Bins] | None = None,
    *,
    weight: float | Tensor = 1.0,
    pooled: bool = True,
    weighting: Weighting = "size",
    tail_weight: float = 1.0,
    reduce: Reduce | None = None,
    backend: Backend = "auto",
) -> Tensor:
    """Add ``weight``·∂penalty/∂w straight to each ``param.grad`` and return the penalty, outside autograd.

    The numbers of ``(weight * kl_to_prior(params, …)).backward()`` without a second buffer of their size.
    """
    problem = _problem(params, prior, bins, pooled, tail_weight, reduce, backend)
    penalties, sizes, slopes = problem.solve(params)
    factors = _factors(sizes, weighting)
    for param in params:
        if param.grad is None:
            param.grad = torch.zeros_like(param)
    problem.groups.add_slopes_([param.grad for param in params], params, slopes * (factors * weight)[:, None])
    return (penalties * factors).sum().to(work_dtype(params))


@dataclass(frozen=True)
class _Problem:
    """Groups of tensors, the prior's probabilities in their bins [groups, K], and how to sum over ranks."""

    groups: Groups
    targets: Tensor
    tail_weight: float
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
        penalties = kl_divergence(self.targets, observed) + self.tail_weight * tail / sizes
        ratio = self.targets / (observed + FLOOR)
        slopes = ((observed * ratio).sum(-1, keepdim=True) - ratio) / total
        return penalties, sizes, torch.cat((slopes, (self.tail_weight / sizes)[:, None]), dim=1)


class _Penalties(torch.autograd.Function):
    """Keeps a few numbers a bin and nothing as large as the weights: the way back locates them again."""

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


def _factors(sizes: Tensor, weighting: Weighting) -> Tensor:
    if isinstance(weighting, str):
        if weighting not in ("size", "equal"):
            raise ConfigError(f"a weighting is size, equal or one factor a layer, found {weighting!r}")
        return sizes / sizes.sum() if weighting == "size" else torch.full_like(sizes, 1 / len(sizes))
    if len(weighting) != len(sizes):
        raise ConfigError(f"a weighting needs one factor a layer ({len(sizes)}), found {len(weighting)}")
    return sizes.new_tensor(weighting)


def _problem(
    values: Sequence[Tensor],
    prior: Prior | Sequence[Prior],
    bins: Bins | Sequence[Bins] | None,
    pooled: bool,
    tail_weight: float,
    reduce: Reduce | None,
    backend: Backend,
) -> _Problem:
    require_weights(values, shared=reduce is not None, each=not pooled)
    lengths = [len(values)] if pooled else [1] * len(values)
    priors = [prior] * len(lengths) if isinstance(prior, Prior) else list(prior)
    chosen = [_default_bins(p) for p in priors] if bins is None else bins
    ranges = [chosen] * len(lengths) if isinstance(chosen, Bins) else list(chosen)
    if not len(priors) == len(ranges) == len(lengths) or len({r.count for r in ranges}) != 1:
        wanted = "one prior" if pooled else f"one prior, or one for each of {len(lengths)} layers,"
        found = f"{len(priors)} priors and {len(ranges)} sets of {sorted({r.count for r in ranges})} bins"
        raise ConfigError(f"the penalty needs {wanted} and bins to match, all of one number, found {found}")
    device = values[0].device
    targets = torch.stack([_target(p, r, device) for p, r in zip(priors, ranges, strict=True)])
    return _Problem(Groups(lengths, ranges, backend), targets, tail_weight, reduce)


@lru_cache(maxsize=512)
def _default_bins(prior: Prior) -> Bins:
    with plain_tensors():
        return Bins.covering(prior)


@lru_cache(maxsize=512)
def _target(prior: Prior, bins: Bins, device: torch.device) -> Tensor:
    with plain_tensors():
        return prior.bin_probabilities(bins.edges()).to(device, precision(device))
