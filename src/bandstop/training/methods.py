"""What a training loop asks of a method, and how a run's config becomes one."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor, nn

from bandstop import rivals
from bandstop.engine.multirate.pruner import MultiRatePruner
from bandstop.engine.pruner import Pruner
from bandstop.nets import NetConfig
from bandstop.training.config import RunConfig

__all__ = ["Dense", "Method", "make_method", "net_for"]


class Method(Protocol):
    """The verbs of a pruning method: penalty, step, finalize, and what it can say of itself.

    A rival may have three more, which the loop calls where they exist: ``bind(optimiser)``, ``prepare(loss_fn)`` with the loss of the
    first batch, and ``lr_progress(progress)``, which gives a retraining its own learning-rate schedule.
    """

    @property
    def rate(self) -> float:
        """Pruning rate at present."""
        ...

    @property
    def kept(self) -> int:
        """Connections kept at present."""
        ...

    @property
    def settled(self) -> bool:
        """Whether the topology will not change any more."""
        ...

    def parameter_groups(
        self, lr: float, *, latent_lr: float | None, weight_decay: float
    ) -> list[dict[str, Any]]:
        """Parameters for the optimiser."""
        ...

    def penalty(self) -> Tensor:
        """Added to the loss."""
        ...

    def step(self) -> None:
        """After each optimiser step."""
        ...

    def finalize(self) -> nn.Module:
        """The plain network with exact zeros."""
        ...

    def snapshot(self) -> dict[str, Any]:
        """What the log shows now and then (a histogram, thresholds)."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """For checkpoints."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """From a checkpoint."""
        ...


class Dense:
    """No pruning: every weight is kept."""

    def __init__(self, net: nn.Module, steps: int) -> None:
        self.net, self.steps, self.taken = net, steps, 0
        self.kept = sum(p.numel() for p in net.parameters() if p.ndim >= 2)
        self.rate = 0.0

    @property
    def settled(self) -> bool:
        """The last fifth of training, as for the pruned nets, is what weight averaging covers."""
        return self.taken >= 0.8 * self.steps

    def parameter_groups(
        self, lr: float, *, latent_lr: float | None, weight_decay: float
    ) -> list[dict[str, Any]]:
        """Decay on weights only."""
        weights = [p for p in self.net.parameters() if p.ndim >= 2]
        others = [p for p in self.net.parameters() if p.ndim < 2]
        return [
            {"params": weights, "lr": lr, "weight_decay": weight_decay},
            {"params": others, "lr": lr, "weight_decay": 0.0},
        ]

    def penalty(self) -> Tensor:
        """Nothing."""
        return torch.zeros(())

    def step(self) -> None:
        """Count."""
        self.taken += 1

    def finalize(self) -> nn.Module:
        """The net as it is."""
        return self.net

    def snapshot(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def state_dict(self) -> dict[str, Any]:
        """Steps taken."""
        return {"taken": self.taken}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Steps taken."""
        self.taken = int(state["taken"])


def make_method(config: RunConfig, net: nn.Module, steps: int, example: Tensor) -> Method:
    """The method that a config names, attached to ``net``."""
    if config.dense:
        return Dense(net, steps)
    budget = config.budget
    assert budget is not None
    if config.rate_range is not None:
        return MultiRatePruner(
            net,
            config.rate_range,
            steps=steps,
            passes=config.prune.passes,
            recipe=config.prune.recipe(config.prior),
            example=example,
            follow=config.prune.follow,
            seed=config.seed,
        )
    if config.method == "pmp":
        return Pruner(net, budget, steps=steps, recipe=config.prune.recipe(config.prior), example=example)
    settings = dict(config.rival)
    return rivals.make(config.method, net, budget, steps=steps, example=example, settings=settings)


def net_for(config: RunConfig, *, joints: int, signal: int, classes: int) -> NetConfig:
    """The net to train: as asked, but for the rival that spends its budget on a smaller dense net."""
    if config.method != "small-dense" or config.budget is None:
        return config.net
    return rivals.small_dense_sizes(config.net, config.budget, joints=joints, signal=signal, classes=classes)
