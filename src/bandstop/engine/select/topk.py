"""Exactly the k largest magnitudes, and the threshold that they exceed, without sorting more than is needed.

Functions of many layers take them whole or sharded and give the same numbers in either case; sharded layers
go through together (``bandstop.engine.select.topk_sharded``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import torch
from torch import Tensor

from bandstop.engine.select import topk_sharded
from bandstop.engine.select.last_threshold import LastThreshold
from bandstop.engine.shards.tensor import Shards, local

__all__ = [
    "count_above",
    "descending_order",
    "fill_up",
    "masks_above",
    "not_finite",
    "pooled_thresholds",
    "relative_ranks",
    "select",
    "select_largest",
    "threshold_for",
    "thresholds_for",
]


def threshold_for(latent: Tensor, count: int) -> Tensor:
    """The threshold a that ``count`` magnitudes exceed: the largest magnitude that is stopped (0 if none is).

    >>> threshold_for(torch.tensor([3.0, -1.0, 2.0]), 1)
    tensor(2.)
    """
    stopped = latent.numel() - count
    if stopped <= 0:
        return latent.new_zeros(())
    kernel = _kernel_for(latent)
    if kernel is not None:
        return torch.scalar_tensor(kernel(latent, stopped), dtype=latent.dtype, device=latent.device)
    magnitude = latent.detach().abs().flatten()
    if count < stopped // 4:
        return magnitude.topk(count + 1, sorted=True).values[-1]
    return magnitude.kthvalue(stopped).values


def _kernel_for(latent: Tensor) -> Callable[[Tensor, int], float] | None:
    """The compiled radix select, where it is installed, can be used and pays."""
    plain = type(latent) in (Tensor, torch.nn.Parameter) and latent.device.type == "cpu"
    if not plain or latent.dtype != torch.float32 or not latent.is_contiguous() or latent.numel() < 8192:
        return None
    return _compiled_kernel()


@cache
def _compiled_kernel() -> Callable[[Tensor, int], float] | None:
    try:
        from bandstop.engine.select.topk_numba import kth_magnitude
    except ImportError:
        return None
    return kth_magnitude


def thresholds_for(
    latents: Mapping[str, Tensor],
    counts: Mapping[str, int],
    last: defaultdict[str, LastThreshold] | None = None,
) -> dict[str, Tensor]:
    """For each layer the threshold that ``counts`` of its magnitudes exceed.

    ``last``: where they were, and now are; the search is then short, and as exact.

    >>> thresholds_for({"a": torch.tensor([3.0, -1.0, 2.0])}, {"a": 1})
    {'a': tensor(2.)}
    """
    if (shards := Shards.of(latents)) is not None:
        return topk_sharded.thresholds_for(shards, counts)
    if last is None:
        return {name: threshold_for(latent, counts[name]) for name, latent in latents.items()}
    return {name: _next_threshold(latent, counts[name], last[name]) for name, latent in latents.items()}


def _next_threshold(latent: Tensor, count: int, last: LastThreshold) -> Tensor:
    if count >= latent.numel():
        return latent.new_zeros(())
    found = last.next(latent, latent.numel() - count)
    if found is None:
        found = threshold_for(latent, count)
    if last.helps(latent):  # to read the number of another device would mean to wait for it
        last.note(found)
    return found


def pooled_thresholds(latents: Mapping[str, Tensor], total: int, floor: int) -> dict[str, Tensor]:
    """One threshold that ``total`` magnitudes exceed, lower where a layer would miss its ``floor``.

    Nothing leaves the device: a training step on a GPU need not wait for it.

    >>> layers = {"a": torch.tensor([3.0, 2.5]), "b": torch.tensor([-2.0, 0.5, 0.4])}
    >>> pooled_thresholds(layers, 3, 1)
    {'a': tensor(0.5000), 'b': tensor(0.5000)}
    >>> pooled_thresholds(layers, 2, 1)
    {'a': tensor(2.5000), 'b': tensor(0.5000)}
    """
    if (shards := Shards.of(latents)) is not None:
        return topk_sharded.pooled_thresholds(shards, total, floor)
    rest, lowest, left = [], [], total
    for latent in latents.values():
        magnitude = latent.abs().flatten()
        sure = min(floor, magnitude.numel())
        lowest.append(threshold_for(latent, sure))
        rest.append(magnitude.float())
        if sure:  # those that pass in any case do not compete
            rest[-1] = rest[-1].index_fill(0, magnitude.topk(sure).indices, 0.0)
        left -= sure
    common = threshold_for(torch.cat(rest), left)
    return {
        name: torch.minimum(common.to(latent.dtype), own)
        for (name, latent), own in zip(latents.items(), lowest, strict=True)
    }


def select(scores: Tensor, count: int) -> Tensor:
    """Mask of exactly the ``count`` largest scores; among equals the earlier one wins.

    >>> select(torch.tensor([1.0, 2.0, 2.0, 2.0]), 2)
    tensor([False,  True,  True, False])
    """
    flat = scores.detach().flatten()
    if count <= 0:
        return torch.zeros_like(scores, dtype=torch.bool)
    if count >= flat.numel():
        return torch.ones_like(scores, dtype=torch.bool)
    smallest = flat.kthvalue(flat.numel() - count + 1).values
    mask = flat > smallest
    ties = (flat == smallest).nonzero().flatten()
    mask[ties[: count - int(mask.sum())]] = True
    return mask.reshape(scores.shape)


def select_largest(latents: Mapping[str, Tensor], counts: Mapping[str, int]) -> dict[str, Tensor]:
    """Masks, sharded like the latents, of exactly the ``counts`` largest magnitudes of each layer.

    >>> select_largest({"a": torch.tensor([2.0, -2.0, 1.0])}, {"a": 1})
    {'a': tensor([ True, False, False])}
    """
    if (shards := Shards.of(latents)) is not None:
        return topk_sharded.select_largest(shards, counts)
    return {name: select(latent.abs(), counts[name]) for name, latent in latents.items()}


def masks_above(latents: Mapping[str, Tensor], thresholds: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Masks, sharded like the latents, of the magnitudes that exceed their layer's threshold.

    >>> masks_above({"a": torch.tensor([3.0, -1.0, 2.0])}, {"a": torch.tensor(1.5)})
    {'a': tensor([ True, False,  True])}
    """
    shards = Shards.of(latents)
    masks = {name: local(latent).abs() > thresholds[name] for name, latent in latents.items()}
    return masks if shards is None else {name: shards.like(name, mask) for name, mask in masks.items()}


def count_above(latents: Mapping[str, Tensor], thresholds: Mapping[str, Tensor]) -> dict[str, int]:
    """How many magnitudes of each layer exceed its threshold, on all ranks together.

    >>> count_above({"a": torch.tensor([3.0, -1.0, 2.0])}, {"a": torch.tensor(1.5)})
    {'a': 2}
    """
    above = [(local(latent).abs() > thresholds[name]).sum() for name, latent in latents.items()]
    return _sums(latents, above)


def not_finite(latents: Mapping[str, Tensor]) -> list[str]:
    """Names of the layers with values that are not finite, here or on another rank.

    >>> not_finite({"a": torch.tensor([torch.nan, 1.0]), "b": torch.ones(1)})
    ['a']
    """
    found = _sums(latents, [(~local(latent).isfinite()).sum() for latent in latents.values()])
    return [name for name, count in found.items() if count]


def _sums(latents: Mapping[str, Tensor], parts: Sequence[Tensor]) -> dict[str, int]:
    shards, numbers = Shards.of(latents), torch.stack(list(parts))
    return dict(zip(latents, (numbers if shards is None else shards.sum(numbers)).tolist(), strict=True))


def relative_ranks(magnitudes: Tensor, count: int) -> Tensor:
    """Scores that make layers comparable under given counts: ``−rank/count``; the best are above −1.

    >>> relative_ranks(torch.tensor([0.1, 5.0, 2.0]), 2)
    tensor([-1.0000, -0.0000, -0.5000])
    """
    order = descending_order(magnitudes.detach().abs().flatten())
    ranks = torch.empty(len(order), dtype=torch.float64, device=order.device)
    ranks[order] = torch.arange(len(order), dtype=torch.float64, device=order.device)
    return (-ranks / max(count, 0.5)).reshape(magnitudes.shape).to(torch.float32)


def descending_order(values: Tensor) -> Tensor:
    """Positions from the largest to the smallest of ``values``, which are flat numbers; equals in order.

    The bits of a float are a whole number in the same order once those of negative ones are turned round, and
    whole numbers are sorted by digits (radix sort), five times as fast as floats.

    >>> descending_order(torch.tensor([1.0, -2.0, 3.0, 1.0, -0.0, 0.0]))
    tensor([2, 0, 3, 4, 5, 1])
    """
    if values.dtype not in _BITS:
        return values.sort(descending=True, stable=True).indices
    whole = _BITS[values.dtype]
    bits = (values + 0.0).view(whole)  # −0 becomes 0
    ascending = torch.where(bits < 0, bits ^ torch.iinfo(whole).max, bits)
    return ascending.bitwise_not_().sort(stable=True).indices


_BITS = {torch.float32: torch.int32, torch.float64: torch.int64}
"""Whole numbers as wide as these floats."""


def fill_up(masks: dict[str, Tensor], scores: dict[str, Tensor], total: int) -> dict[str, Tensor]:
    """Masks filled up to ``total`` with the best-scored connections that they lack, in whatever layer.

    >>> fill_up({"a": torch.tensor([True, False])}, {"a": torch.tensor([0.0, 1.0])}, 2)
    {'a': tensor([True, True])}
    """
    joined = torch.cat([mask.flatten() for mask in masks.values()])
    wanted = torch.cat([scores[name].flatten() for name in masks])
    joined |= select(torch.where(joined, -torch.inf, wanted), total - int(joined.sum()))
    parts = torch.split(joined, [mask.numel() for mask in masks.values()])
    return {name: part.reshape(masks[name].shape) for name, part in zip(masks, parts, strict=True)}
