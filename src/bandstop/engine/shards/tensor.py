"""The part of each sharded weight that this rank holds, and sums over the ranks that hold the rest.

A weight is sharded once ``torch.distributed.fsdp.fully_shard`` has made it a DTensor. Every count over all
its entries is then a sum over ranks of the counts over their parts; integers, so that all ranks get the same
bits.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, distributed, nn

from bandstop.errors import ModelError

__all__ = ["Shards", "is_sharded", "largest", "local", "local_row", "require_plain", "reshard", "whole"]


def is_sharded(tensor: Tensor) -> bool:
    """Whether ``tensor`` is a DTensor, told by name: no import, no trouble for ``torch.compile``.

    >>> is_sharded(torch.ones(2))
    False
    """
    return type(tensor).__name__ == "DTensor"


def local(tensor: Tensor) -> Tensor:
    """The part of a sharded tensor that this rank holds (the same memory), any other tensor as it is."""
    return tensor.to_local() if is_sharded(tensor) else tensor  # type: ignore[attr-defined]


def whole(tensor: Tensor) -> Tensor:
    """All of a sharded tensor, gathered, which every rank must ask for; any other tensor as it is."""
    return tensor.full_tensor() if is_sharded(tensor) else tensor  # type: ignore[attr-defined]


def largest(part: Tensor, like: Tensor) -> Tensor:
    """The largest magnitude in ``part``, and on all ranks if ``like`` is sharded.

    >>> largest(torch.tensor([1.0, -3.0]), like=torch.ones(2))
    tensor(3.)
    """
    found = part.abs().max() if part.numel() else part.new_zeros(())
    return Shards({"": like}).max(found) if is_sharded(like) else found


def require_plain(model: nn.Module) -> None:
    """Refuse a model that is distributed already: the ranks would not share what the pruner adds to it."""
    if isinstance(model, nn.parallel.DistributedDataParallel):
        raise ModelError(
            "the pruner must be attached before the model is wrapped, found DistributedDataParallel: call "
            "Pruner(model, …) first, then DistributedDataParallel(model)"
        )
    for name, parameter in model.named_parameters():
        if is_sharded(parameter):
            raise ModelError(
                f"the pruner must be attached before the model is sharded, found {name} sharded already: "
                "call Pruner(model, …) first, then fully_shard on its blocks and on the model"
            )


def reshard(model: nn.Module) -> None:
    """Give every weight that ``fully_shard`` has gathered for a forward pass its shards back."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return  # nothing can be sharded, and a walk over all modules takes time
    module = sys.modules.get("torch.distributed.fsdp")
    kind = getattr(module, "FSDPModule", None)
    if kind is not None:
        for part in model.modules():
            if isinstance(part, kind):
                part.reshard()


@dataclass(frozen=True)
class Shards:
    """Sharded weights by name, all over one mesh of ranks."""

    weights: Mapping[str, Any]

    @classmethod
    def of(cls, weights: Mapping[str, Tensor]) -> Shards | None:
        """The shards of ``weights``, or none if they are ordinary tensors; a mixture is refused."""
        sharded: dict[str, Any] = {name: weight for name, weight in weights.items() if is_sharded(weight)}
        if not sharded:
            return None
        if plain := [name for name in weights if name not in sharded]:
            raise ModelError(
                f"either all pruned layers are sharded or none, found {', '.join(plain)} whole beside "
                f"{len(sharded)} sharded ones: call fully_shard on the whole model too, after its blocks"
            )
        first = next(iter(sharded.values()))
        for name, weight in sharded.items():
            if weight.device_mesh != first.device_mesh or weight.placements != first.placements:
                _same_ranks(name, weight, first)
            _check(name, weight)
        return cls(sharded)

    def local(self, name: str) -> Tensor:
        """The part of a weight that this rank holds, without gradient."""
        part: Tensor = self.weights[name].to_local().detach()
        return part

    @property
    def double(self) -> bool:
        """Whether any of the weights is in double precision."""
        return any(weight.dtype == torch.float64 for weight in self.weights.values())

    def numel(self, name: str) -> int:
        """Entries of a weight on all ranks together."""
        return int(self.weights[name].numel())

    def sum(self, numbers: Tensor) -> Tensor:
        """``numbers`` added up over all ranks that share the weights (in place)."""
        return self._reduce(numbers, "SUM")

    def max(self, numbers: Tensor) -> Tensor:
        """The largest of each of the ``numbers`` over all ranks that share the weights (in place)."""
        return self._reduce(numbers, "MAX")

    def like(self, name: str, part: Tensor) -> Tensor:
        """``part``, one value per entry held here, as a tensor sharded like the weight ``name``."""
        from torch.distributed.tensor import DTensor

        weight = self.weights[name]
        mesh, placements = weight.device_mesh, weight.placements
        made: Tensor = DTensor.from_local(
            part, mesh, placements, run_check=False, shape=weight.shape, stride=weight.stride()
        )
        return made

    def positions(self, name: str) -> Tensor:
        """Flat positions, in the whole weight, of the entries held here: int64, in the shape of the part."""
        weight = self.weights[name]
        starts, sizes = _block(weight)
        position = torch.zeros((), dtype=torch.int64, device=weight.device)
        for start, size, length in zip(starts, sizes, weight.shape, strict=True):
            position = position[..., None] * length + torch.arange(start, start + size, device=weight.device)
        return position

    def _reduce(self, numbers: Tensor, operation: str) -> Tensor:
        from torch import distributed

        weight = next(iter(self.weights.values()))
        for dimension, placement in enumerate(weight.placements):
            if placement.is_shard():
                group = weight.device_mesh.get_group(dimension)
                distributed.all_reduce(numbers, op=getattr(distributed.ReduceOp, operation), group=group)
        return numbers


def local_row(weight: Any, row: int) -> int | None:
    """Where a row of the whole ``weight`` lies in the part that is held here, if it does."""
    starts, sizes = _block(weight)
    return row - starts[0] if starts[0] <= row < starts[0] + sizes[0] else None


def _block(weight: Any) -> tuple[list[int], list[int]]:
    """First index and length, in each dimension, of the block of the weight that is held here."""
    starts, sizes = [0] * weight.ndim, list(weight.shape)
    coordinate = weight.device_mesh.get_coordinate()
    assert coordinate is not None
    for dimension, placement in enumerate(weight.placements):
        if placement.is_shard():
            axis = placement.dim
            length = -(-sizes[axis] // weight.device_mesh.size(dimension))
            skipped = min(length * coordinate[dimension], sizes[axis])
            starts[axis] += skipped
            sizes[axis] = min(length, sizes[axis] - skipped)
    return starts, sizes


def _check(name: str, weight: Any) -> None:
    if _block(weight)[1] != list(weight.to_local().shape):
        raise ModelError(
            f"layer {name} is split as {weight.placements}, and only shards that are blocks of the weight "
            "can be pruned: shard it by fully_shard alone"
        )


def _same_ranks(name: str, weight: Any, first: Any) -> None:
    """Layers may be cut along different dimensions, but by the same ranks."""
    kinds = [[p.is_shard() for p in w.placements] for w in (weight, first)]
    if weight.device_mesh != first.device_mesh or kinds[0] != kinds[1]:
        raise ModelError(
            f"all pruned layers must be sharded over the same ranks, found {name} on {weight.device_mesh} "
            f"and others on {first.device_mesh}: give fully_shard one mesh"
        )
