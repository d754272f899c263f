"""Train a small transformer to an exact budget on many ranks, to be killed and resumed at will.

    torchrun --nproc-per-node 2 examples/distributed.py
    # A rank dies; the run goes on:
    torchrun --standalone --nproc-per-node 2 --max-restarts 1 examples/distributed.py --crash-at 90

Each rank works on its part of every batch. `--mode fsdp` shards the weights (FSDP2), `--mode ddp` copies
them. Run it again with another --nproc-per-node and the same --out, and it goes on from the last checkpoint.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from pathlib import Path

import torch
from torch import Tensor, distributed, nn
from torch.distributed.fsdp import fully_shard

from bandstop import Pruner, Recipe
from bandstop.distributed import (
    fingerprint,
    join,
    load_checkpoint,
    masks,
    require_agreement,
    save_checkpoint,
    save_plain,
)
from bandstop.method.schedules import Window

TOKENS, LENGTH = 8, 12


class Transformer(nn.Module):
    """Two blocks that tell which token stands where the first token points."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embed = nn.Embedding(TOKENS, width)
        self.place = nn.Parameter(torch.randn(LENGTH, width) * 0.5)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(2)
        )
        self.read = nn.Linear(width, TOKENS)

    def forward(self, tokens: Tensor) -> Tensor:
        hidden = self.embed(tokens) + self.place
        for block in self.blocks:
            hidden = block(hidden)
        answer: Tensor = self.read(hidden[:, 0])
        return answer


def batch(step: int, size: int = 256) -> tuple[Tensor, Tensor]:
    """The joined batch of a step, the same whatever the number of ranks, and this rank's part of it."""
    tokens = torch.randint(TOKENS, (size, LENGTH), generator=torch.Generator().manual_seed(step))
    wanted = tokens.gather(1, 1 + tokens[:, :1])[:, 0]
    rank, world = distributed.get_rank(), distributed.get_world_size()
    return tokens[rank::world], wanted[rank::world]


def wrapped(model: Transformer, mode: str) -> nn.Module:
    """What is called for a step: the model with sharded weights (fsdp), or a wrapper with copies (ddp)."""
    if mode == "ddp":
        return nn.parallel.DistributedDataParallel(model)
    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
    return model


def crash_once() -> None:
    """Kill the last rank, unless the ranks were restarted already."""
    fresh = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0"
    if fresh and distributed.get_rank() == distributed.get_world_size() - 1:
        os.kill(os.getpid(), signal.SIGKILL)


def train(options: argparse.Namespace) -> tuple[Transformer, Pruner, int | None]:
    """The pruned model, its pruner, and the step at which an earlier run was resumed, if one was."""
    torch.manual_seed(0)
    model = Transformer()

    # The pruner first, on the plain model; then the wrapping; then the optimiser.
    recipe = Recipe(live=False, kl=Window(0.1, end=0.6))
    pruner = Pruner(model, options.rate, steps=options.steps, recipe=recipe)
    forward = wrapped(model, options.mode)
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=3e-3))

    resumed = load_checkpoint(options.out, pruner, optimiser) is not None
    first = pruner.taken
    for step in range(first, options.steps):
        if step == options.crash_at:
            crash_once()
        tokens, wanted = batch(step)
        loss = nn.functional.cross_entropy(forward(tokens), wanted) + pruner.penalty()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        pruner.step()
        if pruner.taken % options.save_every == 0 and pruner.taken < options.steps:
            save_checkpoint(options.out, pruner, optimiser)

    pruner.finalize()
    require_agreement(pruner)
    save_plain(model, options.out / "model.pt")
    return model, pruner, first if resumed else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mode", choices=("fsdp", "ddp"), default="fsdp")
    parser.add_argument("--rate", type=float, default=0.9, help="share of the weights to remove")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--save-every", type=int, default=100)
    parser.add_argument("--crash-at", type=int, default=None, help="kill the last rank here, the first time")
    parser.add_argument("--out", type=Path, default=Path("runs/distributed"))
    options = parser.parse_args()

    torch.set_num_threads(1)
    join("gloo")  # "nccl" on GPUs
    model, pruner, resumed_at = train(options)
    mark = fingerprint(masks(pruner))
    with torch.no_grad():
        tokens, wanted = batch(10**6, size=4096)
        right = (model(tokens).argmax(1) == wanted).float().mean()
    distributed.all_reduce(right)
    if distributed.get_rank() == 0:
        result = {
            "ranks": distributed.get_world_size(),
            "resumed_at": resumed_at,
            "asked": pruner.bound.connections,
            "kept": pruner.kept,
            "accuracy": round(float(right) / distributed.get_world_size(), 4),
            "masks": f"{mark % 2**64:016x}",
        }
        print(json.dumps(result))
    distributed.barrier()  # gloo's threads let go of the last tensors before Python ends
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
