"""The map to a prior over shards beside that of one process: awkward tensors, and trainings with padding."""

import json
import sys
from dataclasses import replace

import torch
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import distribute_tensor

from bandstop import Pruner, Recipe
from bandstop.engine.shards.tensor import Shards
from bandstop.engine.shards.transport import scales_to_prior, transport_shards_
from bandstop.method.priors import Laplace
from bandstop.method.schedules import Constant
from bandstop.method.transport import scale_to_prior, transport_
from tests.distributed.arithmetic import latents, meshes
from tests.distributed.ranks import on_ranks

PRIOR = Laplace(1.0)
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 2e-3}


def values(kind: str) -> dict[str, torch.Tensor]:
    """In double precision, where rounding puts no value into another cell, or in a layer's own."""
    found = latents(kind if kind in ("ties", "mixed precision") else "random")
    if kind != "mixed precision":
        found = {name: value.double() for name, value in found.items()}
    if kind == "zeros":
        return {name: torch.zeros_like(value) for name, value in found.items()}
    if kind in ("nan", "inf"):
        found["few rows"][0, 0] = float(kind)
    return found


def moved(way: str, sharded: dict[str, torch.Tensor], plain: dict[str, torch.Tensor]) -> list[str]:
    """Move both and tell what differs; the bits of the scales are compared by the caller."""
    wrong, shards = [], Shards.of(sharded)
    assert shards is not None
    parts = {name: shards.local(name) for name in sharded}
    before = scales_to_prior(list(parts.values()), PRIOR, shards)
    for scale, value in zip(before, plain.values(), strict=True):
        if not torch.allclose(scale, scale_to_prior(value, PRIOR), rtol=CLOSE[value.dtype], equal_nan=True):
            wrong.append(f"{way}: scale of {tuple(value.shape)} before")
    scales = transport_shards_(parts, shards, PRIOR, 0.4)
    for name, value in plain.items():
        scale, off = transport_(value, PRIOR, 0.4), CLOSE[value.dtype]
        whole = sharded[name].full_tensor()  # type: ignore[attr-defined]
        if whole.dtype != value.dtype or scales[name].dtype != value.dtype:
            wrong.append(f"{way}: kind of {name}")
        if not torch.allclose(whole, value, rtol=off, atol=off, equal_nan=True):
            wrong.append(f"{way}: values of {name}, {(whole - value).abs().max()}")
        if not torch.allclose(scales[name], scale, rtol=off, equal_nan=True):
            wrong.append(f"{way}: scale of {name}, {scales[name]} and {scale}")
    return [*wrong, *(f"bits {way} {name} {float(scale).hex()}" for name, scale in scales.items())]


def differences() -> list[str]:
    """What differs from one process, and the bits of the scales."""
    ways, found = meshes(), []
    for kind in ("random", "ties", "mixed precision", "zeros", "nan", "inf"):
        for way, (mesh, placements) in ways.items():
            plain = values(kind)
            sharded = {name: distribute_tensor(t, mesh, placements) for name, t in plain.items()}
            found += moved(f"{kind}, {way}", sharded, {name: t.clone() for name, t in plain.items()})
    return found


def padded(row: int, allocation: str, share: bool) -> tuple[Pruner, nn.Module]:
    """A table with a row that stays zero, trained for a while."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(10, 8, padding_idx=row), nn.Flatten(), nn.Linear(16, 4)).double()
    recipe = replace(Recipe.held(), allocation=allocation, every=1, hold=Constant(0.5), live=False)
    pruner = Pruner(model, 0.5, steps=20, recipe=recipe)
    if share:
        fully_shard(model)
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=0.01))
    generator = torch.Generator().manual_seed(1)
    for _ in range(3):  # each move is steep where values are few: what rounding does grows by it
        loss = model(torch.randint(10, (32, 2), generator=generator)).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        with torch.no_grad():
            model(torch.zeros(1, 2, dtype=torch.int64))  # leaves weights gathered as they are before the move
        pruner.step()
    return pruner, model


def paddings() -> list[str]:
    """What differs from one process where a table has a padding row."""
    wrong = []
    for row in (0, 3, 4, 5, 9):
        for allocation in ("lamp", "uniform"):
            (alone, plain), (shared, model) = (padded(row, allocation, share) for share in (False, True))
            label = f"row {row}, {allocation}"
            if alone.counts != shared.counts:
                wrong.append(f"{label}: counts {alone.counts} and {shared.counts}")
            for one, many in zip(alone.layers, shared.layers, strict=True):
                whole = many.latent.full_tensor()  # type: ignore[attr-defined]
                if not torch.allclose(one.latent, whole, atol=1e-7):
                    wrong.append(f"{label}: latents of {one.name}, {(one.latent - whole).abs().max()}")
            for pruner in (alone, shared):
                pruner.freeze()
                pruner.finalize()
            full = [weight.full_tensor() for weight in model.parameters()]  # type: ignore[attr-defined]
            for one, whole in zip(plain.parameters(), full, strict=True):
                if not torch.equal(one != 0, whole != 0):
                    wrong.append(f"{label}: mask of {tuple(whole.shape)}")
            if bool(full[0][row].any()) or int(sum(w.count_nonzero() for w in full[:2])) != 68:
                wrong.append(f"{label}: {[int(w.count_nonzero()) for w in full]} kept")
    return wrong


def both() -> list[str]:
    return [*differences(), *paddings()]


if __name__ == "__main__":
    print(json.dumps(on_ranks(int(sys.argv[1]), both)))
