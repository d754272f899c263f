"""Whole trainings with the references' code beside ours: same net, batches, steps and optimiser.

Every function returns the plain net at the end. Where the reference asks for its own optimiser (SGD), ours is
used.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch import nn

from bandstop.method.budget import Budget
from bandstop.rivals import published

from . import sources
from .agreement import masks_before_training
from .convolved import probability, soft_threshold, straight_through
from .digits import (
    DECAY,
    LR,
    RATE,
    SEEDS,
    STEPS,
    Batches,
    Ours,
    adamw,
    descend,
    digits,
    fresh,
    kept,
    score,
    weights,
)
from .lockstep import keeps, rigl_scheduler

Theirs = Callable[[list[ModuleType], int], nn.Module]
EPOCHS = 100


def rigl(modules: list[ModuleType], seed: int) -> nn.Module:
    """rigl-torch from the same random masks as ours, with the same interval and end."""
    ours: Any = Ours("rigl", seed)
    masks = keeps(ours)
    net = fresh(seed)
    optimiser = adamw(net)
    scheduler = rigl_scheduler(
        modules[0], net, optimiser, masks, {"delta_T": ours.method.interval, "T_end": ours.method.last}
    )

    def update() -> None:
        if scheduler():
            optimiser.step()

    descend(optimiser, Batches(net, seed, digits()), update=update)
    return net


def mp_lamp(modules: list[ModuleType], seed: int) -> nn.Module:
    """Half the steps dense, their cut by LAMP scores, the other half with the learning rate rewound."""
    net = fresh(seed)
    batches = Batches(net, seed, digits())
    descend(adamw(net), batches, steps=STEPS // 2)
    modules[0].prune_weights_reparam(net)
    modules[0].prune_weights_lamp(net, RATE)
    descend(adamw(net), batches, steps=STEPS // 2)
    for module in net:
        if isinstance(module, nn.Linear):
            torch.nn.utils.prune.remove(module, "weight")  # type: ignore[no-untyped-call]
    return net


def by_policies(
    modules: list[ModuleType], seed: int, cuts: list[list[float]], returns: list[list[int]]
) -> nn.Module:
    """Their pruners and recyclers called as their manager calls them, in a hundred epochs of three steps."""
    pruners, recyclers, masking = modules
    net = masking.get_wrapped_model(fresh(seed))
    common = {"weight_only": True, "modules": ["0", "2", "4"]}
    target = 1 - (595 + 0.5) / 11900  # their cut keeps one less than the number, which it rounds up
    policies = [
        pruners.UnstructuredMagnitudePruner(
            net, epochs=epochs, initial_sparsity=first, target_sparsity=target, **common
        )
        for *epochs, first in cuts
    ]
    back = [recyclers.RestoreWeights(net, epochs=epochs, **common) for epochs in returns]
    optimiser = adamw(net)

    def before(step: int) -> None:
        if step % (STEPS // EPOCHS) == 0:
            for policy in policies:
                policy.on_epoch_begin(step // (STEPS // EPOCHS), torch.device("cpu"))
            restored = [policy.on_epoch_begin(step // (STEPS // EPOCHS), optimiser)[0] for policy in back]
            if any(restored):  # their momentum is forgotten then
                for state in optimiser.state.values():
                    state["exp_avg"].zero_()

    def after(step: int) -> None:
        for policy in (*policies, *back):
            policy.after_parameter_optimization(model=net)

    descend(optimiser, Batches(net, seed, digits()), before=before, after=after)
    plain = fresh(0)
    for name in common["modules"]:  # type: ignore[attr-defined]
        plain[int(name)] = net[int(name)].unwrap()
    return plain


def ac_dc(modules: list[ModuleType], seed: int) -> nn.Module:
    target = 1 - (595 + 0.5) / 11900
    return by_policies(
        modules, seed, [[10, 10, 71, target], [85, 20, 100, target]], [[15, 10, 66], [75, 20, 86]]
    )


def gmp(modules: list[ModuleType], seed: int) -> nn.Module:
    return by_policies(modules, seed, [[20, 1, 79, 0.0]], [])


def before_training(name: str, modules: list[ModuleType], seed: int) -> nn.Module:
    masks = masks_before_training(name, RATE, seed, *modules)
    net = fresh(seed)

    def mask(_: int) -> None:
        for weight, keep in zip(weights(net), masks, strict=True):
            weight.data.mul_(keep)

    mask(0)
    batches = Batches(net, seed, digits())
    if name == "snip":
        batches.draw()  # the batch that the masks have seen
    descend(adamw(net), batches, after=mask)
    return net


def gaussian(modules: list[ModuleType], seed: int, weight: float | None = None) -> nn.Module:
    """Their layers and loss with our λ and threshold's learning rate;
    no exact number is asked for at the end.
    """
    settings: Any = published("asl")
    net, asked = fresh(seed), settings.first * RATE
    first = float(torch.erfinv(torch.tensor(asked)) * 2**0.5)
    modules[0].iter_sparsify(net, first, True, 0)
    layers: list[Any] = [module for module in net if hasattr(module, "r")]
    optimiser = torch.optim.AdamW(
        [
            {"params": [layer.fc.weight for layer in layers], "weight_decay": DECAY},
            {"params": [layer.fc.bias for layer in layers], "weight_decay": 0.0},
            {"params": [layer.r for layer in layers], "weight_decay": 0.0, "lr": settings.threshold_lr},
        ],
        lr=LR,
    )
    batches = Batches(net, seed, digits())
    strength = settings.weight if weight is None else weight
    descend(
        optimiser, lambda: batches() + strength * (modules[0].adaptive_loss(net, True)[0] - 1 + RATE) ** 2
    )
    modules[0].iter_desparsify(net)
    return net


TRAININGS: list[tuple[str, str, Theirs]] = [
    ("mp-lamp", sources.LAMP, mp_lamp),
    ("gmp", sources.ACDC, gmp),
    ("rigl", sources.RIGL, rigl),
    ("ste", sources.STR, straight_through),
    ("str", sources.STR, soft_threshold),
    ("ac-dc", sources.ACDC, ac_dc),
    ("probmask", sources.PROBMASK, probability),
    ("asl", sources.ASL, gaussian),
    ("snip", sources.SYNFLOW, lambda modules, seed: before_training("snip", modules, seed)),
    ("synflow", sources.SYNFLOW, lambda modules, seed: before_training("synflow", modules, seed)),
]


def beside(method: str, train: Theirs, modules: list[ModuleType]) -> dict[str, Any]:
    """Accuracies of a reference's trainings and of ours, of every seed;
    ours with as many connections for STR.
    """
    nets = [train(modules, seed) for seed in SEEDS]
    # STR cannot be asked for a number: ours is asked for the one that theirs came to.
    asked = [Budget.weights(kept(net)) if method == "str" else Budget.rate(RATE) for net in nets]
    ours = [Ours(method, seed, rate=budget).run() for seed, budget in zip(SEEDS, asked, strict=True)]
    return {
        "method": method,
        "theirs": [round(score(net), 2) for net in nets],
        "their_connections": [kept(net) for net in nets],
        "ours": [round(run.accuracy(), 2) for run in ours],
        "our_connections": [kept(run.net) for run in ours],
    }
