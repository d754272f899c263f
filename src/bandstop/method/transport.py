"""Values moved towards a prior by rank: the map of one distribution on another that keeps the order.

With G the values' own distribution and F the prior's, both signed, at the values' own scale s:

    T(x) = s · F⁻¹(G(x)),    s = mean|x| / E|F|

T is the one non-decreasing map under which the values follow the prior, and moves them the least of all maps
that do (the optimal transport on a line). G is read off a histogram of ``CELLS`` cells, linear inside a cell:
a few passes over the values instead of a sort.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from bandstop.method.priors import Prior

__all__ = ["CELLS", "scale_to_prior", "transported"]

CELLS = 4096
"""Cells of the histogram; the largest magnitude is half of them away from zero."""


def scale_to_prior(values: Tensor, prior: Prior) -> Tensor:
    """``s = mean|x| / E|F|``: by how much the prior must be stretched to have the values' mean magnitude.

    >>> from bandstop.method.priors import Laplace
    >>> scale_to_prior(torch.tensor([3.0, -1.0]), Laplace(1.0)).round(decimals=3)
    tensor(2.)
    """
    return values.abs().mean() / _mean_magnitude(prior)


def transported(values: Tensor, prior: Prior, fraction: float = 1.0) -> Tensor:
    """``(1 − ρ)·x + ρ·T(x)`` for the ``fraction`` ρ of the way; the order of the values stays.

    >>> from bandstop.method.priors import Uniform
    >>> bell = torch.randn(10_000, generator=torch.Generator().manual_seed(0))
    >>> flat = transported(bell, Uniform(1.0)) / scale_to_prior(bell, Uniform(1.0))
    >>> torch.quantile(flat, torch.tensor([0.25, 0.5, 0.99])).round(decimals=2).abs()
    tensor([0.5000, 0.0000, 0.9800])
    """
    flat, count = values.reshape(-1), values.numel()
    reach = float(flat.abs().max())
    if reach == 0:
        return values.clone()
    place = (flat + reach).mul_(CELLS / (2 * reach))
    cell = place.to(torch.int64).clamp_(0, CELLS - 1)
    below = torch.bincount(cell, minlength=CELLS).cumsum(0).double() / count
    # A sample's ends lie at the ½/n quantiles: those of 0 and 1 are infinite for most priors.
    ranks = torch.cat((below.new_zeros(1), below)).clamp_(0.5 / count, 1 - 0.5 / count)
    ends = prior.icdf(ranks).mul_(scale_to_prior(flat, prior)).to(flat.dtype)
    inside = place.sub_(cell).clamp_(0, 1)
    target = ends[cell].lerp_(ends[cell + 1], inside)
    return torch.lerp(flat, target, fraction).reshape(values.shape)


@lru_cache(maxsize=64)
def _mean_magnitude(prior: Prior) -> float:
    """``E|F|``, the mean of the quantile function of the magnitude."""
    ranks = (torch.arange(1 << 14, dtype=torch.float64, device="cpu") + 0.5) / (1 << 14)
    return float(prior.magnitude_icdf(ranks).mean())
