"""Sharded thresholds, masks and counts beside those of one process, on awkward tensors."""

import json
import sys

import torch
from torch.distributed import DeviceMesh, init_device_mesh
from torch.distributed.tensor import Placement, Replicate, Shard, distribute_tensor

from bandstop.distributed.agreement import fingerprint
from bandstop.engine.select.allocation import allocate
from bandstop.engine.select.topk import count_above, pooled_thresholds, select_largest, thresholds_for
from bandstop.engine.trace import count_kept
from tests.distributed.ranks import on_ranks

SHAPES = {"wide": (7, 31), "few rows": (3, 50), "one row": (1, 20), "cube": (5, 4, 3), "large": (64, 129)}


def latents(kind: str) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    made = {name: torch.randn(shape, generator=generator) for name, shape in SHAPES.items()}
    if kind == "ties":  # few values, many equal, zeros of both signs
        made = {name: (latent * 2).round() / 2 * -1.0 for name, latent in made.items()}
    if kind == "mixed precision":
        kinds = (torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.float32)
        made = {name: latent.to(dtype) for (name, latent), dtype in zip(made.items(), kinds, strict=True)}
    return made


def meshes() -> dict[str, tuple[DeviceMesh, list[Placement]]]:
    """How tensors are cut: by rows, and with four ranks by rows twice over and by blocks."""
    world = torch.distributed.get_world_size()
    made: dict[str, tuple[DeviceMesh, list[Placement]]] = {
        "rows": (init_device_mesh("cpu", (world,)), [Shard(0)])
    }
    if world == 4:
        grid = init_device_mesh("cpu", (2, 2))
        made["hybrid"] = (grid, [Replicate(), Shard(0)])
        made["blocks"] = (grid, [Shard(0), Shard(1)])
    return made


def differences() -> list[str]:
    """What differs from one process; nothing should."""
    ways, wrong = meshes(), []
    for kind in ("random", "ties", "mixed precision"):
        plain = latents(kind)
        sizes = {name: latent.numel() for name, latent in plain.items()}
        for way, (mesh, placements) in ways.items():
            sharded = {name: distribute_tensor(t, mesh, placements) for name, t in plain.items()}
            for share in (0.0, 0.02, 0.4, 1.0):
                counts = {name: round(share * n) for name, n in sizes.items()}
                label = f"{kind}, {way}, {share}"
                levels = thresholds_for(plain, counts), thresholds_for(sharded, counts)
                wrong += [
                    f"{label}: threshold of {n}" for n in plain if not torch.equal(levels[0][n], levels[1][n])
                ]
                masks = select_largest(plain, counts), select_largest(sharded, counts)
                wrong += [
                    f"{label}: mask of {n}"
                    for n in plain
                    if not torch.equal(masks[0][n], masks[1][n].full_tensor())
                    or int(masks[0][n].sum()) != counts[n]
                ]
                if fingerprint(masks[0]) != fingerprint(masks[1]):
                    wrong.append(f"{label}: fingerprint")
                if count_above(plain, levels[0]) != count_above(sharded, levels[1]):
                    wrong.append(f"{label}: count")
                if any(count_kept(masks[0][n]) != count_kept(masks[1][n]) for n in plain):
                    wrong.append(f"{label}: count of a mask")
                for rule, floor in (("learned", 0), ("learned", 5), ("erk", 1)):
                    total = max(round(share * sum(sizes.values())), 5 * floor)
                    one, many = (allocate(rule, total, each, floor=floor) for each in (plain, sharded))
                    if one != many:
                        wrong.append(f"{label}: {rule} with floor {floor}: {one} and {many}")
                    if rule == "learned":
                        one, many = (pooled_thresholds(each, total, floor) for each in (plain, sharded))
                        wrong += [
                            f"{label}: pooled threshold of {n}"
                            for n in plain
                            if not torch.equal(one[n], many[n])
                        ]
    return wrong


if __name__ == "__main__":
    print(json.dumps(on_ranks(int(sys.argv[1]), differences)))
