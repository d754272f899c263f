"""Thresholds, exact masks and pooled counts of layers, whole or sharded: the same numbers in either case.

Whole layers go through ``bandstop.engine.select.topk``. Sharded ones go through all together, so that the number of collectives does
not grow with theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from bandstop.engine.select.topk import cut_value, select
from bandstop.engine.shards.radix import from_keys, keys, kth_smallest
from bandstop.engine.shards.tensor import Shards, local

__all__ = [
    "all_above",
    "count_above",
    "count_true",
    "cut_values",
    "not_finite",
    "pooled_counts",
    "pooled_cuts",
    "select_all",
]


def cut_values(latents: Mapping[str, Tensor], counts: Mapping[str, int]) -> dict[str, Tensor]:
    """For each layer the threshold that ``counts`` magnitudes exceed: the largest that is stopped (0 if none is).

    >>> cut_values({"a": torch.tensor([3.0, -1.0, 2.0])}, {"a": 1})
    {'a': tensor(2.)}
    """
    shards = Shards.of(latents)
    if shards is None:
        return {name: cut_value(latent, counts[name]) for name, latent in latents.items()}
    names = list(latents)
    stopped = [shards.numel(name) - counts[name] for name in names]
    found = _kth_magnitude(shards, names, [max(k, 1) for k in stopped])
    return {
        name: _value(key, shards, name) if k > 0 else shards.local(name).new_zeros(())
        for name, key, k in zip(names, found, stopped, strict=True)
    }


def count_above(latents: Mapping[str, Tensor], cuts: Mapping[str, Tensor]) -> dict[str, int]:
    """How many magnitudes of each layer exceed its threshold.

    >>> count_above({"a": torch.tensor([3.0, -1.0, 2.0])}, {"a": torch.tensor(1.5)})
    {'a': 2}
    """
    return _sums(latents, [(local(latent).abs() > cuts[name]).sum() for name, latent in latents.items()])


def all_above(latents: Mapping[str, Tensor], cuts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Masks, sharded like the latents, of the magnitudes that exceed their layer's threshold.

    >>> all_above({"a": torch.tensor([3.0, -1.0, 2.0])}, {"a": torch.tensor(1.5)})
    {'a': tensor([ True, False,  True])}
    """
    shards, masks = Shards.of(latents), {n: local(latent).abs() > cuts[n] for n, latent in latents.items()}
    return masks if shards is None else {name: shards.like(name, mask) for name, mask in masks.items()}


def count_true(masks: Mapping[str, Tensor]) -> dict[str, int]:
    """How many entries of each mask are set.

    >>> count_true({"a": torch.tensor([True, False])})
    {'a': 1}
    """
    return _sums(masks, [local(mask).sum() for mask in masks.values()])


def not_finite(latents: Mapping[str, Tensor]) -> list[str]:
    """Names of the layers with values that are not finite, here or on another rank.

    >>> not_finite({"a": torch.tensor([torch.nan, 1.0]), "b": torch.ones(1)})
    ['a']
    """
    found = _sums(latents, [(~local(latent).isfinite()).sum() for latent in latents.values()])
    return [name for name, count in found.items() if count]


def select_all(latents: Mapping[str, Tensor], counts: Mapping[str, int]) -> dict[str, Tensor]:
    """Masks, sharded like the latents, of exactly the ``counts`` largest magnitudes; among equals the earlier place wins.

    >>> select_all({"a": torch.tensor([2.0, -2.0, 1.0])}, {"a": 1})
    {'a': tensor([ True, False, False])}
    """
    shards = Shards.of(latents)
    if shards is None:
        return {name: select(latent.abs(), counts[name]) for name, latent in latents.items()}
    names = list(latents)
    sizes = [shards.numel(name) for name in names]
    asked = [min(max(counts[name], 0), size) for name, size in zip(names, sizes, strict=True)]
    ranks = [min(size - count + 1, size) for size, count in zip(sizes, asked, strict=True)]
    limits = _kth_magnitude(shards, names, ranks)
    masks, equal = {}, {}
    for name, limit in zip(names, limits, strict=True):
        numbers = _magnitude_keys(shards, name)
        masks[name], equal[name] = numbers >= limit, numbers == limit
    sums = shards.sum(torch.stack([torch.stack((masks[name].sum(), equal[name].sum())) for name in names]))
    tied = {}
    for name, count, (held, ties) in zip(names, asked, sums.tolist(), strict=True):
        if count == 0:
            masks[name] = torch.zeros_like(masks[name])
        elif held > count:
            tied[name] = count - (held - ties)
    if tied:
        _drop_late(shards, masks, equal, tied)
    return {name: shards.like(name, mask) for name, mask in masks.items()}


def _drop_late(
    shards: Shards, masks: dict[str, Tensor], equal: Mapping[str, Tensor], wanted: Mapping[str, int]
) -> None:
    """Keep only the ``wanted`` earliest of each layer's equal magnitudes."""
    bits = max(shards.numel(name) for name in wanted).bit_length()
    ties = [shards.places(name)[equal[name]] for name in wanted]
    found = kth_smallest(
        lambda: ties, torch.tensor(list(wanted.values()), device=ties[0].device), bits, shards.sum
    )
    for name, places, last in zip(wanted, ties, found, strict=True):
        masks[name][equal[name]] = places <= last


def pooled_counts(shards: Shards, total: int, floor: int) -> list[int]:
    """Connections per layer when the ``total`` largest magnitudes of all layers are kept, at least ``floor`` in each."""
    sizes = [shards.numel(name) for name in shards.weights]
    if total == sum(sizes):
        return sizes
    limit, rest = _pooled_limit(shards, total, floor)
    sums = shards.sum(torch.stack([torch.stack(((r > limit).sum(), (r == limit).sum())) for r in rest]))
    lifted = [min(floor, size) for size in sizes]
    counts, missing = [], total - sum(lifted) - int(sums[:, 0].sum())
    for (above, ties), first in zip(sums.tolist(), lifted, strict=True):
        taken = min(missing, ties)
        counts.append(first + above + taken)
        missing -= taken
    return counts


def pooled_cuts(shards: Shards, total: int, floor: int) -> dict[str, Tensor]:
    """The one threshold that ``total`` magnitudes of all layers exceed, lower where a layer would keep fewer than ``floor``."""
    sizes = {name: shards.numel(name) for name in shards.weights}
    floors = cut_values(shards.weights, {name: min(floor, size) for name, size in sizes.items()})
    if total == sum(sizes.values()):
        return {name: torch.zeros_like(lowest) for name, lowest in floors.items()}
    limit = from_keys(_pooled_limit(shards, total, floor)[0])[0]
    return {name: torch.minimum(limit.to(lowest.dtype), lowest) for name, lowest in floors.items()}


def _pooled_limit(shards: Shards, total: int, floor: int) -> tuple[Tensor, list[Tensor]]:
    """Key of the largest magnitude that is stopped, and keys of those here that compete: all but each layer's ``floor`` best."""
    sizes = {name: shards.numel(name) for name in shards.weights}
    lifted = {name: min(floor, size) for name, size in sizes.items()}
    held = select_all(shards.weights, lifted) if floor else {}
    rest = [_rest(shards, name, held) for name in shards.weights]
    pool = torch.cat(rest)
    stopped = torch.tensor([sum(sizes.values()) - total], device=pool.device)
    return kth_smallest(lambda: [pool], stopped, 31, shards.sum), rest


def _rest(shards: Shards, name: str, held: Mapping[str, Tensor]) -> Tensor:
    """Keys of the magnitudes that are not held already, in float32 as for one process."""
    part = keys(shards.local(name).abs().float()).flatten()
    if name in held:
        part = part[~local(held[name]).flatten()]
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


def _sums(latents: Mapping[str, Tensor], parts: Sequence[Tensor]) -> dict[str, int]:
    shards, numbers = Shards.of(latents), torch.stack(list(parts))
    return dict(zip(latents, (numbers if shards is None else shards.sum(numbers)).tolist(), strict=True))
