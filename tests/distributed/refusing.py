"""What is refused on many ranks, in which words; and what the pruner sends in a step."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.distributed.fsdp import fully_shard

from bandstop import BandstopError, MultiRatePruner, Pruner, Recipe
from bandstop.distributed import require_agreement, save_checkpoint
from bandstop.method.schedules import Constant
from tests.distributed.ranks import on_ranks
from tests.distributed.small import net, training


def words(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except BandstopError as error:
        return f"{type(error).__name__}: {error}"
    return "not refused"


def sharded_first() -> object:
    model = net()
    fully_shard(model)
    return Pruner(model, 0.8, steps=10)


def half_sharded() -> object:
    run = training("one")
    fully_shard(run.model[0])
    return run.pruner.step() or [run.pruner.step() for _ in range(8)]


def live() -> object:
    model = net()
    pruner = Pruner(model, 0.8, steps=10, example=torch.zeros(1, 8))
    fully_shard(model)
    return pruner.parameter_groups(lr=0.1)


def many_rates() -> object:
    model = net()
    pruner = MultiRatePruner(model, (0.5, 0.9), steps=10, recipe=Recipe.held())
    fully_shard(model)
    return [pruner.step() for _ in range(4)]


def one_rank_behind() -> object:
    run = training("ddp")
    run.run(2, share=True)
    if torch.distributed.get_rank():
        run.pruner.step()
    return require_agreement(run.pruner)


def other_gain() -> object:
    run = training("fsdp", Recipe(gain="fixed"))
    run.run(2, share=True)
    run.pruner.layers[1].band.log_gain += 1e-3 * torch.distributed.get_rank()
    return save_checkpoint("/nowhere", run.pruner, run.optimiser)


def sent(recipe: Recipe) -> list[int]:
    """Bytes that the pruner gives to collectives in each of five steps,
    gathering and scattering by FSDP apart.
    """
    run = training("fsdp", recipe, steps=100)
    total, plain = [0], torch.distributed.all_reduce

    def counting(tensor: torch.Tensor, *arguments: Any, **options: Any) -> Any:
        total[0] += tensor.numel() * tensor.element_size()
        return plain(tensor, *arguments, **options)

    torch.distributed.all_reduce = counting
    steps = []
    for _ in range(5):
        total[0] = 0
        run.run(1, share=True)
        steps.append(total[0])
    total[0] = 0
    run.pruner.freeze()
    steps.append(total[0])
    torch.distributed.all_reduce = plain
    return steps


def all_refusals() -> dict[str, Any]:
    wrapped = nn.parallel.DistributedDataParallel(net())
    return {
        "sharded first": words(sharded_first),
        "wrapped first": words(lambda: Pruner(wrapped, 0.8, steps=10)),
        "half sharded": words(half_sharded),
        "live": words(live),
        "many rates": words(many_rates),
        "one rank behind": words(one_rank_behind),
        "other gain": words(other_gain),
        "sent": {
            "layer": sent(Recipe(kl=Constant(0.1), every=4, threshold="empirical")),
            "pooled": sent(Recipe(kl=Constant(0.1), histogram="pooled", every=4, threshold="empirical")),
            "held": sent(replace(Recipe.held(), kl=Constant(0.1), every=4)),
        },
    }


if __name__ == "__main__":
    print(json.dumps(on_ranks(2, all_refusals)))
