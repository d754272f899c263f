"""The map to a prior (``bandstop.method.transport``) of layers whose values lie on many ranks, or on a device
for which the host shall not wait.

The map needs of a layer its largest magnitude R, how many values lie in each of the C cells of [−R, R], and
the sum of magnitudes before and after. All layers go through together, in three collectives:

    max R,    sum (counts, Σ|x|),    sum Σ|T(x)|        L, L·(C + 1) and L numbers for L layers

Sums of magnitudes are taken as whole numbers too, of a unit of which a layer can hold 2⁶² at most: all ranks,
and all copies of shards, get the same bits in whatever order they add.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bandstop.engine.shards.tensor import Shards
from bandstop.method.histogram.soft import precision
from bandstop.method.priors import Prior
from bandstop.method.transport import CELLS, scale_to_prior

__all__ = ["scales_to_prior", "transport_shards_"]

MOST = 2.0**62
"""Units of a sum of magnitudes, at most: twice as many would not fit."""


def scales_to_prior(parts: Sequence[Tensor], prior: Prior, shards: Shards | None) -> list[Tensor]:
    """``scale_to_prior`` of each layer, of which ``parts`` are here; without ``shards`` they are all of it.

    >>> from bandstop.method.priors import Laplace
    >>> scales_to_prior([torch.tensor([3.0, -1.0])], Laplace(1.0), None)[0].round(decimals=3)
    tensor(2.)
    """
    if shards is None:
        return [scale_to_prior(part, prior) for part in parts]
    sums = torch.stack([_sum(part) for part in parts])
    both = shards.sum(torch.stack((sums, sums.new_tensor([part.numel() for part in parts]))))
    means = both[0] / both[1]
    return [scale_to_prior(mean, prior).to(part.dtype) for mean, part in zip(means, parts, strict=True)]


def transport_shards_(
    parts: Mapping[str, Tensor], shards: Shards | None, prior: Prior, fraction: float = 1.0
) -> dict[str, Tensor]:
    """Move each layer's values, of which ``parts`` are here, the ``fraction`` of the way, in place.

    Returns the prior's scale for each layer as it is then, the same bits on every rank. A part may be empty;
    without ``shards`` they are all of it. No number is read by the host.

    >>> from bandstop.method.priors import Laplace
    >>> from bandstop.method.transport import transported
    >>> values = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    >>> moved = transported(values, Laplace(1.0))
    >>> scales = transport_shards_({"a": values}, None, Laplace(1.0))
    >>> torch.allclose(values, moved), torch.allclose(scales["a"], scale_to_prior(moved, Laplace(1.0)))
    (True, True)
    """
    names, found = list(parts), torch.stack([_measured(part) for part in parts.values()])
    total, most = (_own, _own) if shards is None else (shards.sum, shards.max)
    held = [parts[name].numel() if shards is None else shards.numel(name) for name in names]
    reach, sizes = most(found[:, 0].clone()), found.new_tensor(held)
    finite, unit = reach.isfinite(), _unit(reach, sizes)
    cells = torch.stack([_counted(_placed(*row)[1]) for row in zip(parts.values(), reach, strict=True)])
    sums = total(torch.cat((cells, _in_units(found[:, 1], unit)[:, None]), dim=1))
    below = torch.nn.functional.pad(sums[:, :-1].cumsum(1), (1, 0)).to(found.dtype)
    count = below[:, -1:]
    mean = torch.where(finite, sums[:, -1] * unit / count[:, 0], torch.nan)
    # As in the map of whole layers: the ranks of the first and of the last value in each cell.
    ranks = torch.stack(((below[:, :-1] + 0.5).minimum(count - 0.5), (below[:, 1:] - 0.5).clamp(min=0.5)), 1)
    ends = prior.icdf(ranks / count[:, None]) * _scales(mean, prior)[:, None, None]
    moves = zip(parts.values(), reach, ends, strict=True)
    after = torch.stack([_moved(part, at, borders, fraction) for part, at, borders in moves])
    # What every rank knows that no value exceeds now.
    unit = _unit(torch.maximum(reach, ends.abs().amax((1, 2))), sizes)
    mean = torch.where(finite, total(_in_units(after, unit)) * unit / count[:, 0], torch.nan)
    scales = zip(names, _scales(mean, prior), strict=True)
    return {name: scale.to(parts[name].dtype) for name, scale in scales}


def _own(numbers: Tensor) -> Tensor:
    return numbers


def _scales(means: Tensor, prior: Prior) -> Tensor:
    return torch.stack([scale_to_prior(mean, prior) for mean in means])


def _sum(part: Tensor) -> Tensor:
    return part.abs().sum(dtype=precision(part.device))


def _measured(part: Tensor) -> Tensor:
    """The largest magnitude, infinite where one is not a number, and the sum; zeros of an empty part."""
    if not part.numel():
        return torch.zeros(2, dtype=precision(part.device), device=part.device)
    total = _sum(part)
    # A maximum over ranks could lose a NaN.
    return torch.stack((part.abs().max().to(total.dtype), total)).nan_to_num(nan=torch.inf, posinf=torch.inf)


def _unit(most: Tensor, sizes: Tensor) -> Tensor:
    """What ``sizes`` magnitudes up to ``most`` are counted in; something where these are not numbers."""
    return torch.where(most.isfinite() & (most > 0), most * sizes / MOST, 1.0)


def _in_units(sums: Tensor, unit: Tensor) -> Tensor:
    return (sums / unit).round().nan_to_num(nan=0.0).clamp(max=MOST).to(torch.int64)


def _placed(part: Tensor, reach: Tensor) -> tuple[Tensor, Tensor]:
    """Where values lie along the cells, and the cell of each; all in the middle one if ``reach`` is zero."""
    work = _flat(part)
    tiny = CELLS * torch.finfo(work.dtype).tiny
    reach = torch.where(reach.isfinite() & (reach > tiny), reach, 1.0)
    place = (work + reach.to(work.dtype)).mul_((CELLS / 2 / reach).to(work.dtype))
    return place, place.to(torch.int64).clamp_(0, CELLS - 1)


def _counted(cell: Tensor) -> Tensor:
    """How many values each cell has."""
    if cell.device.type == "cpu":
        return torch.bincount(cell, minlength=CELLS)
    # Other devices would have to tell the host the largest cell first.
    return cell.new_zeros(CELLS).scatter_add_(0, cell, cell.new_ones(()).expand_as(cell))


def _moved(part: Tensor, reach: Tensor, ends: Tensor, fraction: float) -> Tensor:
    """Move the values of a part and return the sum of their magnitudes."""
    work, (place, cell) = _flat(part), _placed(part, reach)
    borders, inside = ends.to(work.dtype), place.sub_(cell).clamp_(0, 1)
    target = borders[0][cell].lerp_(borders[1][cell], inside)
    part.copy_(torch.lerp(work, target, fraction).reshape(part.shape))
    return _sum(part)


def _flat(part: Tensor) -> Tensor:
    """The values in a row, in single precision at least: a half's own would fill few of the cells."""
    flat = part.reshape(-1)
    return flat if flat.dtype == torch.float64 else flat.float()
