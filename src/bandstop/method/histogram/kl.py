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
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from bandstop.method.histogram.soft import (
    UNFOLDED,
    Bins,
    Groups,
    empty_gradients,
    has_fused_passes,
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
    if reduce is None and (fused := _fused_for(values, bins, prior)) is not None:
        found: Tensor = _FusedPenalty.apply(fused, lengths, *values)  # type: ignore[no-untyped-call]
        return found
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
        gradients = empty_gradients(ctx, torch.zeros_like)
        ctx.groups.add_slopes_(gradients, ctx.saved_tensors, ctx.slopes * factors[:, None])
        return (None, *gradients)


class _FusedPenalty(torch.autograd.Function):
    """The mean penalty in one node, where numba has both ways (``bandstop.method.histogram.kl_numba``)."""

    @staticmethod
    def forward(ctx: Any, fused: Any, lengths: Sequence[int], *values: Tensor) -> Tensor:
        rest = iter(values)
        groups = [list(islice(rest, n)) for n in lengths]
        ctx.slopes = torch.empty(len(groups), fused.bins, dtype=torch.float64, device="cpu")
        penalties, sizes = fused.forward(groups, ctx.slopes), [sum(v.numel() for v in g) for g in groups]
        ctx.fused, ctx.lengths, ctx.shares = fused, lengths, [size / sum(sizes) for size in sizes]
        ctx.save_for_backward(*values)
        mean = sum(p * share for p, share in zip(penalties, ctx.shares, strict=True))
        return torch.scalar_tensor(mean, dtype=torch.float32, device="cpu")

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, factor: Tensor) -> tuple[Tensor | None, ...]:
        gradients, weight = empty_gradients(ctx, torch.empty_like), float(factor)
        rest = iter(zip(gradients, ctx.saved_tensors, strict=True))
        pairs = [list(islice(rest, n)) for n in ctx.lengths]
        ctx.fused.backward(pairs, ctx.slopes, [weight * share for share in ctx.shares])
        return (None, None, *gradients)


def _fused_for(values: Sequence[Tensor], bins: Bins, prior: Prior) -> Any:
    """The compiled ways, where they are installed and ``values`` lie in memory as these want them."""
    if torch.compiler.is_compiling():
        return None
    for value in values:
        plain = type(value) in (Tensor, torch.nn.Parameter) and value.device.type == "cpu"
        if not plain or value.dtype is not torch.float32 or not value.is_contiguous():
            return None
    if sum(value.numel() for value in values) > UNFOLDED or not has_fused_passes():
        return None
    return _compiled()(bins.width, bins.limit, _target(prior, bins, values[0].device), FLOOR)


@lru_cache(maxsize=1)
def _compiled() -> Any:
    from bandstop.method.histogram.kl_numba import FusedKL

    return FusedKL


@lru_cache(maxsize=512)
def _default_bins(prior: Prior) -> Bins:
    with plain_tensors():
        return Bins.covering(prior)


@lru_cache(maxsize=512)
def _target(prior: Prior, bins: Bins, device: torch.device) -> Tensor:
    with plain_tensors():
        return prior.bin_probabilities(bins.edges()).to(device, precision(device))
