"""Rivals in training, each change of their masks repeated by the reference from the same weights,
masks and gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from . import sources
from .common import Row, row
from .digits import RATE, Ours, fresh, weights


def as_plain(run: Ours) -> nn.Sequential:
    """A plain net with the weights that a run has now."""
    net = fresh(0)
    for weight, layer in zip(weights(net), run.method.layers, strict=True):
        weight.data.copy_(layer.latent.detach() * run.method.band(layer).mask)
    return net


def keeps(run: Ours) -> list[Tensor]:
    return [run.method.band(layer).mask.clone() for layer in run.method.layers]


def rigl_scheduler(
    module: ModuleType, net: nn.Module, optimiser: Any, masks: list[Tensor], plan: dict[str, Any]
) -> Any:
    """The reference's scheduler with these masks:
    the way its checkpoints set them (its own start is uniform only).
    """
    state = {
        "dense_allocation": 1 - RATE,
        "S": [1 - float(m.float().mean()) for m in masks],
        "N": [m.numel() for m in masks],
        "hyperparams": {
            "alpha": 0.3,
            "ignore_linear_layers": False,
            "static_topo": False,
            "sparsity_distribution": "uniform",
            "grad_accumulation_n": 1,
            **plan,
        },
        "step": 0,
        "rigl_steps": 0,
        "backward_masks": [m.clone() for m in masks],
        "_linear_layers_mask": [1] * len(masks),
    }
    return module.RigLScheduler(net, optimiser, state_dict=state, delta=plan["delta_T"])


class Tally:
    """Connections that differ, over all changes of a training."""

    def __init__(self) -> None:
        self.changes, self.differ, self.worst = 0, 0, 0

    def add(self, ours: list[Tensor], theirs: list[Tensor]) -> None:
        n = sum(int((o ^ t.bool()).sum()) for o, t in zip(ours, theirs, strict=True))
        self.changes, self.differ, self.worst = self.changes + 1, self.differ + n, max(self.worst, n)


def rigl_rows(module: ModuleType) -> list[Row]:
    """RigL: what is dropped and what is grown at every update of a training."""
    run, tally = Ours("rigl", 0), Tally()
    method: Any = run.method
    plan = {"delta_T": method.interval, "T_end": method.last}

    def watch(step: int) -> Callable[[], None] | None:
        if not method.due(step):
            return None
        masks, net = keeps(run), as_plain(run)
        theirs = rigl_scheduler(module, net, torch.optim.SGD(net.parameters(), lr=1.0), masks, plan)
        theirs.step = step
        for weight, hook, layer in zip(theirs.W, theirs.backward_hook_objects, method.layers, strict=True):
            hook.dense_grad = method.band(layer).seen.clone()
            weight.grad = hook.dense_grad.clone()
        theirs._rigl_step()
        return lambda: tally.add(keeps(run), theirs.backward_masks)

    run.run(watch)
    what = f"masks after each of {tally.changes} updates of a training"
    return [row("rigl", what, tally.changes * 11900, tally.differ, "connections")]


def set_rows(module: ModuleType) -> list[Row]:
    """SET: what is dropped at every update of a training (what is grown is chance)."""
    run, dropped = Ours("set", 0), Tally()
    method: Any = run.method

    def watch(step: int) -> Callable[[], None] | None:
        if not method.due(step):
            return None
        masks, net, theirs = keeps(run), as_plain(run), keeps(run)
        for index, (mask, weight) in enumerate(zip(theirs, weights(net), strict=True)):
            kept, moved = int(mask.sum()), int(0.3 * int(mask.sum()))
            # They round the number up: half a connection less makes it the same as ours, rounded down.
            masking = SimpleNamespace(
                name2prune_rate={"": (moved - 0.5) / kept},
                stats=SimpleNamespace(nonzeros_dict={"": kept}, zeros_dict={"": mask.numel() - kept}),
            )
            theirs[index] = module.magnitude_prune(masking, mask.clone(), weight, "").bool()
        zero_now = [layer.latent for layer in method.layers]

        def then() -> None:
            # What ours drops and does not grow again at once has left; all that is grown starts from zero.
            stay = [(w.detach() != 0) & m for w, m in zip(zero_now, masks, strict=True)]
            dropped.add(stay, theirs)

        return then

    run.run(watch)
    what = f"connections that survive each of {dropped.changes} updates of a training"
    return [row("set", what, dropped.changes * 11900, dropped.differ, "connections")]


def gradual_rows(pruners: ModuleType, _recyclers: ModuleType, masking: ModuleType) -> list[Row]:
    """GMP and AC/DC: every cut of a training by their pruner,
    which keeps one connection less than it is asked for.
    """
    rows = []
    for name, what in (("gmp", "cuts"), ("ac-dc", "compressions")):
        run, tally = Ours(name, 0, settings={"floor": 0}), Tally()
        method: Any = run.method

        def watch(
            step: int, run: Ours = run, tally: Tally = tally, method: Any = method
        ) -> Callable[[], None]:
            masks, net = keeps(run), masking.get_wrapped_model(as_plain(run))

            def then() -> None:
                now = keeps(run)
                left = sum(int(mask.sum()) for mask in now)
                if left >= sum(int(mask.sum()) for mask in masks):
                    return
                level = 1 - (left + 0.5) / 11900  # they round the number up
                theirs = pruners.UnstructuredMagnitudePruner(
                    net,
                    epochs=[0, 1, 1],
                    weight_only=True,
                    initial_sparsity=level,
                    target_sparsity=level,
                    modules=["0", "2", "4"],
                )
                for module, mask in zip(theirs._modules, masks, strict=True):
                    module.weight_mask = mask.float()
                theirs.on_epoch_begin(0, torch.device("cpu"))
                tally.add(now, [module.weight_mask for module in theirs._modules])

            return then

        run.run(watch)
        text = f"masks after each of {tally.changes} {what} of a training"
        rows.append(row(name, text, tally.changes * 11900, tally.differ, "connections"))
    return rows


def rows(name: str, modules: list[ModuleType]) -> list[Row]:
    """All comparisons in training with one reference."""
    found: list[Row] = {
        sources.RIGL: lambda: rigl_rows(*modules),
        sources.REWIRING: lambda: set_rows(*modules),
        sources.ACDC: lambda: gradual_rows(*modules),
    }.get(name, list)()
    return found
