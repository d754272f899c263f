"""Values moved towards a prior by rank: the map of one distribution on another that keeps the order.

With G the values' own distribution and F the prior's, both signed, at the values' own scale s:

    T(x) = s · F⁻¹(G(x)),    s = mean|x| / E|F|

T is the one non-decreasing map under which the values follow the prior, and moves them the least of all maps
that do (the optimal transport on a line). G is read off a histogram of ``CELLS`` cells: a few passes over the
values instead of a sort. Of n values, m in a cell with k below it, those at its two ends have the ranks
(k + ½)/n and (k + m − ½)/n, and those between them what lies between. A value alone in its cell has its very
rank, wherever in the cell it lies: rounding does not move it.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import Any

import torch
from torch import Tensor

from bandstop.method.priors import Prior

__all__ = [
    "CELLS",
    "TABULATED",
    "mean_magnitude",
    "rank_quantiles",
    "scale_to_prior",
    "transport_",
    "transported",
    "worth_compiled",
]

CELLS = 4096
"""Cells of the histogram; the largest magnitude is half of them away from zero."""
TABULATED = 1 << 20
"""Values up to which the quantiles of all their ranks are kept, four bytes each."""
WORTH = 1 << 13
"""Values for which numba is loaded."""


def scale_to_prior(values: Tensor, prior: Prior) -> Tensor:
    """``s = mean|x| / E|F|``: by how much the prior must be stretched to have the values' mean magnitude.

    >>> from bandstop.method.priors import Laplace
    >>> scale_to_prior(torch.tensor([3.0, -1.0]), Laplace(1.0)).round(decimals=3)
    tensor(2.)
    """
    return values.abs().mean() / mean_magnitude(prior)


def transported(values: Tensor, prior: Prior, fraction: float = 1.0) -> Tensor:
    """``(1 − ρ)·x + ρ·T(x)`` for the ``fraction`` ρ of the way; the order of the values stays.

    >>> from bandstop.method.priors import Uniform
    >>> bell = torch.randn(10_000, generator=torch.Generator().manual_seed(0))
    >>> flat = transported(bell, Uniform(1.0)) / scale_to_prior(bell, Uniform(1.0))
    >>> torch.quantile(flat, torch.tensor([0.25, 0.5, 0.99])).round(decimals=2).abs()
    tensor([0.5000, 0.0000, 0.9800])
    """
    flat, count = values.reshape(-1), values.numel()
    flat = flat if flat.dtype == torch.float64 else flat.float()  # a half's own would fill few of the cells
    reach = float(flat.abs().max())
    if reach == 0:
        return values.clone()
    place = (flat + reach).mul_(CELLS / (2 * reach))
    cell = place.to(torch.int64).clamp_(0, CELLS - 1)
    below = torch.nn.functional.pad(torch.bincount(cell, minlength=CELLS).cumsum(0), (1, 0))
    exactly = flat.dtype == torch.float64
    ends = _ends(prior, below, count, exactly).mul_(scale_to_prior(flat, prior)).to(flat.dtype)
    inside = place.sub_(cell).clamp_(0, 1)
    target = ends[0][cell].lerp_(ends[1][cell], inside)
    return torch.lerp(flat, target, fraction).to(values.dtype).reshape(values.shape)


def transport_(values: Tensor, prior: Prior, fraction: float = 1.0) -> Tensor:
    """``transported`` in place; returns the prior's scale for the values as they are then.

    In three passes over float32 values on the CPU where numba is installed.

    >>> from bandstop.method.priors import Laplace
    >>> values = torch.randn(9000, generator=torch.Generator().manual_seed(0))
    >>> moved = transported(values, Laplace(1.0), 0.5)
    >>> scale = transport_(values, Laplace(1.0), 0.5)
    >>> torch.allclose(values, moved, atol=1e-4), torch.allclose(scale, scale_to_prior(moved, Laplace(1.0)))
    (True, True)
    """
    loops = _loops_for(values)
    largest = torch.empty((), dtype=torch.int32, device="cpu")
    if loops is not None:
        at, count = values.data_ptr(), values.numel()
        mean = loops.measure(at, at, count, largest.data_ptr()) / mean_magnitude(prior)
        reach = float(largest.view(torch.float32))
        if 0 < reach < math.inf and CELLS / (2 * reach) < math.inf:
            per_unit = CELLS / (2 * reach)
            below = torch.empty(2 * (CELLS + 1), dtype=torch.int32, device="cpu")
            loops.count_cells(at, count, per_unit, CELLS, below.data_ptr())
            ends = _ends(prior, below[: CELLS + 1], count).mul_(mean).float()
            after = loops.move(at, count, per_unit, CELLS, ends.data_ptr(), fraction)
            return torch.scalar_tensor(after / mean_magnitude(prior), dtype=torch.float32, device="cpu")
    values.copy_(transported(values, prior, fraction))
    return scale_to_prior(values, prior)


def _ends(prior: Prior, below: Tensor, count: int, exactly: bool = False) -> Tensor:
    """The prior's quantiles of the first and of the last of ``count`` values in each cell, of which so many
    lie ``below`` the borders; two rows.
    """
    first, last = below[:-1].clamp(max=count - 1), (below[1:] - 1).clamp(min=0)
    if below.device.type == "cpu" and count <= TABULATED and not exactly:  # the table is in single precision
        return torch.stack([rank_quantiles(prior, count).index_select(0, rank) for rank in (first, last)])
    return prior.icdf((torch.stack((first, last)).double() + 0.5) / count)


@lru_cache(maxsize=64)
def rank_quantiles(prior: Prior, count: int) -> Tensor:
    """The quantiles of (k + ½)/n for all k below n, float32: to look them up takes a tenth of the time that
    they take.

    >>> from bandstop.method.priors import Uniform
    >>> rank_quantiles(Uniform(1.0), 4)
    tensor([-0.7500, -0.2500,  0.2500,  0.7500])
    """
    ranks = torch.arange(count, dtype=torch.float64, device="cpu") + 0.5
    return prior.icdf(ranks / count).float()


def _loops_for(values: Tensor) -> Any:
    """The compiled loops, where they are installed and can be used."""
    plain = type(values) in (Tensor, torch.nn.Parameter) and values.device.type == "cpu"
    if not plain or values.dtype != torch.float32 or not values.is_contiguous():
        return None
    return _loaded() if worth_compiled(values.numel()) else None


def worth_compiled(count: int) -> bool:
    """Whether numba is loaded for so many values, or was."""
    return count >= WORTH or _loaded.cache_info().currsize > 0


@cache
def _loaded() -> Any:
    try:
        from bandstop.method import transport_numba
    except ImportError:
        return None
    return transport_numba


@lru_cache(maxsize=64)
def mean_magnitude(prior: Prior) -> float:
    """``E|F|``, the mean of the quantile function of the magnitude.

    >>> from bandstop.method.priors import Uniform
    >>> mean_magnitude(Uniform(1.0))
    0.5
    """
    ranks = (torch.arange(1 << 14, dtype=torch.float64, device="cpu") + 0.5) / (1 << 14)
    return float(prior.magnitude_icdf(ranks).mean())
