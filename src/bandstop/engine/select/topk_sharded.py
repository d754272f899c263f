"""Thresholds, exact masks and pooled counts of sharded layers: what ``topk`` finds of whole ones.

All layers go through together, so that the number of collectives does not grow with theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from bandstop.engine.shards.radix import from_keys, keys, kth_smallest
from bandstop.engine.shards.tensor import Shards, local

__all__ = ["pooled_counts", "pooled_thresholds", "select_largest", "thresholds_for"]


def thresholds_for(shards: Shards, counts: Mapping[str, int]) -> dict[str, Tensor]:
    """For each layer the threshold that ``counts`` of its magnitudes exceed (0 if none is stopped)."""
    names = list(shards.weights)
    stopped = [shards.numel(name) - counts[name] for name in names]
    found = _kth_magnitude(shards, names, [max(k, 1) for k in stopped])
    return {
        name: _value(key, shards, name) if k > 0 else shards.local(name).new_zeros(())
        for name, key, k in zip(names, found, stopped, strict=True)
    }


def select_largest(shards: Shards, counts: Mapping[str, int]) -> dict[str, Tensor]:
    """Masks, sharded like the weights, of the ``counts`` largest magnitudes; among equals the earlier win."""
    names = list(shards.weights)
    sizes = [shards.numel(name) for name in names]
    asked = [min(max(counts[name], 0), size) for name, size in zip(names, sizes, strict=True)]
    ranks = [min(size - count + 1, size) for size, count in zip(sizes, asked, strict=True)]
    smallest = _kth_magnitude(shards, names, ranks)
    masks, equal = {}, {}
    for name, key in zip(names, smallest, strict=True):
        numbers = _magnitude_keys(shards, name)
        masks[name], equal[name] = numbers >= key, numbers == key
    sums = shards.sum(torch.stack([torch.stack((masks[name].sum(), equal[name].sum())) for name in names]))
    tied = {}
    for name, count, (reached, ties) in zip(names, asked, sums.tolist(), strict=True):
        if count == 0:
            masks[name] = torch.zeros_like(masks[name])
        elif reached > count:
            tied[name] = count - (reached - ties)
    if tied:
        _drop_late(shards, masks, equal, tied)
    return {name: shards.like(name, mask) for name, mask in masks.items()}


def _drop_late(
    shards: Shards, masks: dict[str, Tensor], equal: Mapping[str, Tensor], wanted: Mapping[str, int]
) -> None:
    """Leave only the ``wanted`` earliest of each layer's equal magnitudes in the masks."""
    bits = max(shards.numel(name) for name in wanted).bit_length()
    ties = [shards.positions(name)[equal[name]] for name in wanted]
    found = kth_smallest(
        lambda: ties, torch.tensor(list(wanted.values()), device=ties[0].device), bits, shards.sum
    )
    for name, positions, last in zip(wanted, ties, found, strict=True):
        masks[name][equal[name]] = positions <= last


def pooled_counts(shards: Shards, total: int, floor: int) -> list[int]:
    """Counts per layer of the ``total`` largest magnitudes of all layers, at least ``floor`` in each."""
    sizes = [shards.numel(name) for name in shards.weights]
    if total == sum(sizes):
        return sizes
    key, rest = _pooled_key(shards, total, floor)
    sums = shards.sum(torch.stack([torch.stack(((r > key).sum(), (r == key).sum())) for r in rest]))
    sure = [min(floor, size) for size in sizes]
    counts, missing = [], total - sum(sure) - int(sums[:, 0].sum())
    for (above, ties), first in zip(sums.tolist(), sure, strict=True):
        taken = min(missing, ties)
        counts.append(first + above + taken)
        missing -= taken
    return counts


def pooled_thresholds(shards: Shards, total: int, floor: int) -> dict[str, Tensor]:
    """One threshold that ``total`` magnitudes exceed, lower where a layer would miss its ``floor``."""
    sizes = {name: shards.numel(name) for name in shards.weights}
    lowest = thresholds_for(shards, {name: min(floor, size) for name, size in sizes.items()})
    if total == sum(sizes.values()):
        return {name: torch.zeros_like(own) for name, own in lowest.items()}
    common = from_keys(_pooled_key(shards, total, floor)[0])[0]
    return {name: torch.minimum(common.to(own.dtype), own) for name, own in lowest.items()}


def _pooled_key(shards: Shards, total: int, floor: int) -> tuple[Tensor, list[Tensor]]:
    """Key of the largest magnitude that is stopped, and keys of those here that compete for a place.

    Each layer's ``floor`` best pass in any case and do not compete.
    """
    sizes = {name: shards.numel(name) for name in shards.weights}
    sure = {name: min(floor, size) for name, size in sizes.items()}
    masks = select_largest(shards, sure) if floor else {}
    rest = [_rest(shards, name, masks) for name in shards.weights]
    pool = torch.cat(rest)
    stopped = torch.tensor([sum(sizes.values()) - total], device=pool.device)
    return kth_smallest(lambda: [pool], stopped, 31, shards.sum), rest


def _rest(shards: Shards, name: str, masks: Mapping[str, Tensor]) -> Tensor:
    """Keys of the magnitudes outside the mask, in float32 as for one process."""
    part = keys(shards.local(name).abs().float()).flatten()
    if name in masks:
        part = part[~local(masks[name]).flatten()]
    return part


def _magnitude_keys(shards: Shards, name: str) -> Tensor:
    magnitudes = shards.local(name).abs()
    return keys(magnitudes.double() if shards.double else magnitudes)


def _value(key: Tensor, shards: Shards, name: str) -> Tensor:
    return from_keys(key, double=shards.double).to(shards.local(name).dtype)


def _kth_magnitude(shards: Shards, names: Sequence[str], wanted: Sequence[int]) -> Tensor:
    """Keys of the ``wanted``-th smallest magnitude of each layer."""

    def parts() -> Iterator[Tensor]:
        return (_magnitude_keys(shards, name) for name in names)

    numbers = torch.tensor(wanted, device=shards.local(names[0]).device)
    return kth_smallest(parts, numbers, 63 if shards.double else 31, shards.sum)
