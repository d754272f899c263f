"""What the training loop asks of a method, and how a run's config becomes one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from bandstop import rivals
from bandstop.engine.multirate.pruner import MultiRatePruner
from bandstop.engine.planned import PlannedBudget
from bandstop.engine.pruner import Pruner
from bandstop.engine.recipe import Recipe
from bandstop.errors import ConfigError
from bandstop.method.budget import Budget
from bandstop.method.gate import Gate, gate
from bandstop.method.priors import Prior, prior
from bandstop.method.schedules import Constant, Geometric, Ramp, Rise, Window
from bandstop.nets.config import NetConfig
from bandstop.record.prune import HOLD_POWER, PruneChoices
from bandstop.training.config import PruneConfig, RunConfig
from bandstop.training.dense import Dense

__all__ = [
    "Layers",
    "Method",
    "StepResult",
    "describe_method",
    "make_many_rates",
    "make_method",
    "net_for",
    "recipe_of",
]

Layers = dict[str, dict[str, Any]]
"""Threshold and gain of each layer, by name."""


class StepResult(NamedTuple):
    """A step's loss, the penalty in it, and how many of the batch were right."""

    loss: Tensor
    penalty: Tensor
    right: Tensor


class Prunes(Protocol):
    """What the engine's pruner, every rival and a dense training have (see ``bandstop.engine.verbs``)."""

    @property
    def rate(self) -> float: ...
    @property
    def kept(self) -> int: ...
    @property
    def settled(self) -> bool: ...
    def parameter_groups(
        self, lr: float, *, latent_lr: float | None, weight_decay: float
    ) -> list[dict[str, Any]]: ...
    def bind(self, optimiser: torch.optim.Optimizer) -> None: ...
    def prepare(self, loss_fn: Callable[[], Tensor]) -> None: ...
    def lr_progress(self, progress: float) -> float: ...
    def planned(self) -> PlannedBudget | None: ...
    def asked_rate(self) -> float | None: ...
    def kl(self) -> float | None: ...
    def penalty(self) -> Tensor: ...
    def step(self) -> None: ...
    def finalize(self) -> nn.Module: ...
    def snapshot(self) -> dict[str, Any]: ...
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class Method:
    """A method as the loop sees it: the verbs of its pruner, and how a step and the end of training go."""

    def __init__(self, pruner: Prunes) -> None:
        self.pruner = pruner
        self.parameter_groups, self.bind, self.prepare = pruner.parameter_groups, pruner.bind, pruner.prepare
        self.lr_progress, self.kl, self.asked_rate = pruner.lr_progress, pruner.kl, pruner.asked_rate
        self.step, self.snapshot = pruner.step, pruner.snapshot
        self.state_dict, self.load_state_dict = pruner.state_dict, pruner.load_state_dict

    def planned(self) -> PlannedBudget | None:
        """How many connections each layer will keep, where that is known before training."""
        return self.pruner.planned()

    @property
    def rate(self) -> float:
        """Pruning rate at present."""
        return self.pruner.rate

    @property
    def kept(self) -> int:
        """Connections kept at present."""
        return self.pruner.kept

    @property
    def settled(self) -> bool:
        """Whether the topology will not change any more."""
        return self.pruner.settled

    def backward(
        self, forward: Callable[[], Tensor], fit: Callable[[Tensor], Tensor], labels: Tensor
    ) -> StepResult:
        """The gradients of a step: one pass, whose loss is ``fit(scores)`` and the method's penalty."""
        scores = forward()
        penalty = self.pruner.penalty()
        loss = fit(scores) + penalty
        torch.autograd.backward(loss)
        right = (scores.detach().argmax(1) == labels).sum()
        return StepResult(loss.detach(), penalty.detach(), right)

    def finish(self, calibration: Iterable[Tensor]) -> tuple[nn.Module, Layers]:
        """The plain network with exact zeros, in evaluation mode, and what is known of its layers."""
        layers: Layers = self.pruner.snapshot().get("layers", {})
        return self.pruner.finalize().eval(), layers

    def latent_state(self) -> dict[str, Any] | None:
        """What any budget can be extracted from; none where the training was for one."""
        return None


class ManyRates(Method):
    """The engine's pruner for many rates, whose budget is chosen when a network is extracted."""

    pruner: MultiRatePruner

    def __init__(self, pruner: MultiRatePruner, budget: Budget) -> None:
        super().__init__(pruner)
        self.budget = budget

    def planned(self) -> PlannedBudget | None:
        """None: the budget is not known before."""
        return None

    def finish(self, calibration: Iterable[Tensor]) -> tuple[nn.Module, Layers]:
        """The highest rate, extracted."""
        return self.pruner.extract(self.budget, calibration), self.pruner.described(self.budget)

    def latent_state(self) -> dict[str, Any] | None:
        """The averages, and where the schedules ended."""
        return {"method": self.state_dict(), "net": dict(self.pruner.model.state_dict())}


def make_method(config: RunConfig, net: nn.Module, steps: int, example: Tensor) -> Method:
    """The method that a config names, attached to ``net``."""
    budget = config.budget
    if config.dense or budget is None:
        return Method(Dense(net, steps))
    if config.rates is not None:
        _check_sweep(config)
        return ManyRates(make_many_rates(config, net, steps, example), budget)
    if config.method == "pmp":
        return Method(Pruner(net, budget, steps=steps, recipe=recipe_of(config), example=example))
    settings = dict(config.rival)
    return Method(rivals.make(config.method, net, budget, steps=steps, example=example, settings=settings))


def make_many_rates(config: RunConfig, net: nn.Module, steps: int, example: Tensor) -> MultiRatePruner:
    """The engine's pruner for the range of rates that a config names."""
    assert config.rate_range is not None
    return MultiRatePruner(
        net,
        config.rate_range,
        steps=steps,
        recipe=recipe_of(config),
        example=example,
        begin=config.prune.sweep_from,
        end=config.prune.sweep_until,
        average=config.prune.sweep_average,
        waypoints=config.prune.waypoints,
    )


def _check_sweep(config: RunConfig) -> None:
    """Refuse what a training for many rates would pass over.

    >>> _check_sweep(RunConfig(rates="0.5:0.9"))
    """
    usual, found = PruneConfig(), config.prune
    for name in ("ramp", "freeze"):
        if getattr(found, name) != getattr(usual, name):
            raise ConfigError(
                f"prune.{name} is for one rate: with --rates the rate rises from prune.sweep_from to "
                f"prune.sweep_until and no mask is fixed, found {getattr(found, name):g}"
            )
    if config.optim.average:
        raise ConfigError(
            "optim.average is for one rate: with --rates weights are averaged over prune.sweep_average of "
            f"the training, found {config.optim.average:g}"
        )


def recipe_of(config: RunConfig) -> Recipe:
    """The engine's recipe that a config describes.

    >>> recipe_of(RunConfig(rate=0.9)).gate
    Soft(leak=1.0)
    """
    prune = config.prune
    shared = {field.name: getattr(prune, field.name) for field in fields(PruneChoices)}
    return Recipe(
        **{**shared, "gain": prune.gain or "variance"},
        prior=_prior(config),
        gate=_gate(prune),
        ramp=Ramp(0.0, 1.0, end=prune.ramp) if prune.ramp else Constant(1.0),
        temperature=_cooling(prune) if prune.gate == "logistic" else Constant(1.0),
        kl=Window(prune.kl, end=1.0 if config.rates else prune.freeze, power=prune.kl_decay),
        hold=Rise(prune.hold_first, prune.hold, end=prune.ramp, power=HOLD_POWER),
    )


def _prior(config: RunConfig) -> Prior:
    found = prior(config.prior, config.prune.prior_scale)
    return found if config.prune.prior_std is None else found.with_std(config.prune.prior_std)


def _cooling(prune: PruneConfig) -> Geometric:
    return Geometric(1.0, prune.cool, begin=prune.cool_from, end=prune.cool_until)


def _gate(prune: PruneConfig) -> Gate:
    if prune.gate == "logistic":
        return gate("logistic", sigma=prune.sigma)
    if prune.gate == "garrote":
        return gate("garrote", power=prune.power, leak=prune.leak)
    return gate(prune.gate, leak=prune.leak)


def describe_method(config: RunConfig) -> str:
    """What the method of a run does, in one sentence.

    >>> describe_method(RunConfig())
    'No pruning: every connection is kept.'
    """
    if config.dense:
        return "No pruning: every connection is kept."
    if config.method == "pmp":
        return (
            "Probabilistic magnitude pruning: each latent weight passes or stops at a band-stop gate whose "
            "threshold is the quantile that the budget asks for, in a single training run."
        )
    return rivals.NAMES[config.method]


def net_for(config: RunConfig, **shape: Any) -> NetConfig:
    """The net to train: as asked, but for the rival that spends its budget on a smaller dense net."""
    if config.method != "small-dense" or config.budget is None:
        return config.net
    return rivals.small_dense_sizes(config.net, config.budget, **shape)
