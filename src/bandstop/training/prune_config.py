"""The method's choices as a run's config has them: what is an object in a recipe is named here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import tyro

from bandstop.errors import ConfigError
from bandstop.record.fields import check_fields, number
from bandstop.record.prune import (
    HOLD,
    HOLD_FIRST,
    PAPER_COOL,
    SWEEP_AVERAGE,
    SWEEP_FROM,
    SWEEP_UNTIL,
    WAYPOINTS,
    PruneChoices,
)

__all__ = ["PruneConfig"]


@dataclass(frozen=True, kw_only=True)
class PruneConfig(PruneChoices):
    """The method's choices; see ``bandstop.Recipe``, which ``bandstop.training.method`` makes of them."""

    prefix: ClassVar[str] = "prune."

    gate: Literal["soft", "hard", "garrote", "logistic"] = "soft"
    """Band-stop gate."""
    leak: float = number(1.0, 0, 1)
    """Gradient that reaches a stopped weight (exact gates): 1 as if the gate were open, 0 the true
    derivative."""
    power: float = number(2.0, 0.1, 100)
    """Exponent of the garrote gate."""
    sigma: float = number(1.0, 1e-9, 1e9)
    """σ of the logistic gate."""
    cool: float = number(PAPER_COOL, 1e-9, 1e3)
    """Final temperature of the logistic gate."""
    cool_from: float = number(0.5, 0, 1)
    """Share of training from which the logistic gate cools."""
    cool_until: float = number(1.0, 0, 1)
    """Share of training at which the logistic gate has its final temperature."""
    ramp: float = number(0.7, 0, 1)
    """Share of training over which the rate rises cubically; 0 applies the full rate from the start."""
    kl: float = number(0.0, 0, 1e9)
    """λ, the weight of KL(P‖Q) in the loss."""
    kl_decay: float = number(0.0, 0, 100)
    """Power with which λ decays to nothing until the mask is fixed; 0 for constant."""
    prior_scale: float = number(1.0, 1e-6, 1e6)
    """Scale of the prior, in latent units."""
    prior_std: float | None = number(None, 1e-6, 1e6)
    """Standard deviation of the prior, in latent units, instead of its scale: the same for every family."""
    hold_first: float = number(HOLD_FIRST, 0, 1)
    """Threshold held: fraction of the way to the prior's quantiles that latents go whenever thresholds are
    renewed, at first."""
    hold: float = number(HOLD, 0, 1)
    """Threshold held: the same fraction once the ramp has ended."""
    live: Annotated[bool, tyro.conf.arg(help_behavior_hint="(default: on live ones only)")] = True
    """Spend the budget on any connections, also on those that are on no path from an input to an output."""
    sweep_from: float = number(SWEEP_FROM, 0, 1)
    """Many rates (--rates): share of training over which the rate rises to the lowest."""
    sweep_until: float = number(SWEEP_UNTIL, 0, 1)
    """Many rates: share of training at which the rate has come to the highest."""
    sweep_average: float = number(SWEEP_AVERAGE, 0, 1)
    """Many rates: over which share of training weights are averaged."""
    waypoints: int = number(WAYPOINTS, 1, 1000)
    """Many rates: how many averages between the lowest and the highest rate are kept."""

    def __post_init__(self) -> None:
        check_fields(self, self.prefix)
        if self.allocation == "given":
            raise ConfigError(
                "prune.allocation given needs densities by layer name, which only bandstop.Recipe takes; "
                "choose learned, lamp, uniform or erk"
            )
        usual = type(self).__dataclass_fields__
        for name in ("hold", "hold_first", "coordinates") if self.rule != "held" else ():
            if getattr(self, name) != usual[name].default:
                raise ConfigError(
                    f"prune.{name} is for latents that are held to the prior, and here thresholds are "
                    f"{self.rule}: leave it out, or set prune.threshold = held too, found "
                    f"{getattr(self, name)!r}"
                )
        if self.sweep_from > self.sweep_until:
            raise ConfigError(
                "the rate comes to the lowest before the highest: prune.sweep_from must not be above "
                f"prune.sweep_until, found {self.sweep_from:g} and {self.sweep_until:g}"
            )
