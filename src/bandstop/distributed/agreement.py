"""Whether all ranks hold the same masks, told by a fingerprint that does not depend on sharding."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import torch
from torch import Tensor, distributed

from bandstop.engine.pruner import Pruner
from bandstop.engine.shards.tensor import Shards, reshard
from bandstop.errors import TrainingError

__all__ = ["fingerprint", "masks", "require_agreement"]


def fingerprint(masks: Mapping[str, Tensor]) -> int:
    """A fingerprint of masks: the sum of a hash of each kept entry's layer and position, mod 2⁶⁴.

    Equal masks have equal fingerprints on one rank or many; where they are sharded every rank must ask.

    >>> one, other = torch.tensor([True, False]), torch.tensor([False, True])
    >>> mine = fingerprint({"a": one, "b": other})
    >>> mine == fingerprint({"a": one, "b": other}) != fingerprint({"a": other, "b": one})
    True
    """
    shards = Shards.of(masks)
    parts = []
    for number, (name, mask) in enumerate(masks.items()):
        positions = (
            mask.flatten().nonzero().flatten()
            if shards is None
            else shards.positions(name)[shards.local(name)]
        )
        parts.append(_mixed(positions + (number << 44)).sum())
    total = torch.stack(parts).sum()
    return int(total if shards is None else shards.sum(total))


def masks(pruner: Pruner) -> dict[str, Tensor]:
    """Which entries of each layer are kept, sharded like the weights: none before the mask is fixed."""
    if not pruner.frozen:
        return {}
    reshard(pruner.model)
    found = {}
    for layer in pruner.layers:
        if layer.band is not None and layer.band.mask is not None:
            found[layer.name] = layer.band.mask
        else:  # finalized: the zeros are the mask
            weight = layer.latent.detach()
            shards = Shards.of({"": weight})
            found[layer.name] = weight != 0 if shards is None else shards.like("", shards.local("") != 0)
    return found


def require_agreement(pruner: Pruner) -> None:
    """Refuse to go on unless schedules, thresholds, gains and masks are the same, bit for bit, on all ranks.

    A few bytes are exchanged. Every rank must call it, and every rank raises the error.
    """
    if not (distributed.is_available() and distributed.is_initialized()):
        return
    device = pruner.layers[0].latent.device
    own = torch.tensor(_digests(pruner), dtype=torch.int64, device=device)
    lowest, highest = own.clone(), own.clone()
    distributed.all_reduce(lowest, op=distributed.ReduceOp.MIN)
    distributed.all_reduce(highest, op=distributed.ReduceOp.MAX)
    different = [what for what, low, high in zip(_DIGESTS, lowest, highest, strict=True) if low != high]
    if different:
        raise TrainingError(
            f"all ranks must hold the same {' and '.join(different)}, and they differ: attach the pruner "
            "before the model is wrapped or sharded, call pruner.step() on every rank, and let no rank skip "
            "a step"
        )


_DIGESTS = ("steps", "thresholds", "gains", "masks")


def _digests(pruner: Pruner) -> list[int]:
    bands = [layer.band for layer in pruner.layers if layer.band is not None]
    levels = [(band.threshold, band.latent_threshold(), band.temperature) for band in bands]
    thresholds = [number for level in levels for number in level]
    fixed = masks(pruner)
    return [
        pruner.taken,
        _digest(thresholds),
        _digest([band.gain for band in bands]),
        fingerprint(fixed) if fixed else 0,
    ]


def _digest(numbers: list[Tensor]) -> int:
    values = [float(number.detach()) for number in numbers]
    return int.from_bytes(sha256(repr(values).encode()).digest()[:7])


def _mixed(numbers: Tensor) -> Tensor:
    """The finaliser of SplitMix64: spreads neighbouring numbers over all of int64."""
    numbers = (numbers ^ (numbers >> 30)) * -0x40A7B892E31B1A47
    numbers = (numbers ^ (numbers >> 27)) * -0x6B2FB644ECCEEE15
    return numbers ^ (numbers >> 31)
