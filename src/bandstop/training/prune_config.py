"""The pruning method's choices, as a run's config holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bandstop.engine.recipe import Recipe
from bandstop.method.gate import Gate, gate
from bandstop.method.priors import Prior, prior
from bandstop.method.schedules import Constant, Geometric, Ramp, Rise, Schedule, Window
from bandstop.record.prune import HOLD, HOLD_FIRST, HOLD_POWER
from bandstop.training.typed_json import in_range

__all__ = ["PruneConfig"]


@dataclass(frozen=True)
class PruneConfig:
    """The method's choices (see ``bandstop.Recipe``)."""

    gate: Literal["soft", "hard", "garrote", "logistic"] = "soft"
    """Band-stop gate."""
    leak: float = 1.0
    """Gradient that reaches a stopped weight (exact gates): 1 as if the gate were open, 0 the true derivative."""
    power: float = 2.0
    """Exponent of the garrote gate."""
    sigma: float = 1.0
    """σ of the logistic gate."""
    cool: float = 1e-3
    """Final temperature of the logistic gate."""
    allocation: Literal["learned", "uniform", "erk", "lamp"] = "lamp"
    """How layers share the budget."""
    threshold: Literal["empirical", "prior", "held"] = "empirical"
    """Threshold from the latents' own quantile (exact), from the prior's (the paper), or from the prior's with
    latents held to it (held)."""
    count: Literal["exact", "passing"] = "exact"
    """What stays: exactly the budget, or whatever passes the threshold (the paper), near to the budget where the prior is met."""
    ramp: float = 0.7
    """Share of training over which the rate rises cubically; 0 applies the full rate from the start."""
    freeze: float = 0.8
    """Share of training after which the mask is fixed; 1 for never."""
    kl: float = 0.0
    """λ of KL(P‖Q)."""
    kl_decay: float = 0.0
    """Power with which λ decays to nothing until the mask is fixed; 0 for constant."""
    histogram: Literal["layer", "pooled"] = "layer"
    """One histogram a layer, or one for all."""
    bins: int = 100
    """Bins of the histogram."""
    start: Literal["rank", "scale"] = "rank"
    """Latents start as the prior's quantiles in the order of the initial weights, or as those weights rescaled."""
    prior_scale: float = 1.0
    """Scale of the prior, in latent units."""
    prior_std: float | None = None
    """Standard deviation of the prior, in latent units, instead of its scale: the same for every family."""
    gain: Literal["variance", "fixed", "learned"] | None = None
    """Layer gains: raised so that a layer keeps its variance as fewer connections pass, fixed, or learned; unless given, fixed in a
    GCN, whose layers are normalised, and raised in an LSTM."""
    live: bool = True
    """Spend the budget on live connections only."""
    floor: int = 1
    """Fewest connections that a layer keeps; 0 allows empty layers."""
    every: int = 4
    """Renew thresholds every so many steps."""
    hold_first: float = HOLD_FIRST
    """Threshold held: fraction of the way to the prior's quantiles that latents go whenever thresholds are
    renewed, at first."""
    hold: float = HOLD
    """Threshold held: the same fraction once the ramp has ended."""
    dual: float = 0.0
    """Threshold prior: speed of the dual variable that steers the observed rate to the asked one through the
    loss; 0 for none."""
    spacing: Literal["width", "probability"] = "width"
    """Bins of the histogram of equal width, or of equal probability under the prior."""
    passes: int = 3
    """Many rates at once: passes a step, at the lowest, at drawn and at the highest rate; 1 for a drawn rate only."""
    self_share: float = 0.5
    """Many rates at once: share of the loss of the others that comes from what the lowest rate predicts."""
    follow: bool = False
    """Many rates at once: gains, biases and normalisations follow the rate."""

    def __post_init__(self) -> None:
        in_range(
            self, "prune", leak=(0, 1), power=(0.1, 100), sigma=(1e-9, 1e9), cool=(1e-9, 1e3), ramp=(0, 1)
        )
        in_range(
            self, "prune", kl=(0, 1e9), kl_decay=(0, 100), prior_scale=(1e-6, 1e6), prior_std=(1e-6, 1e6)
        )
        in_range(self, "prune", hold=(0, 1), hold_first=(0, 1), dual=(0, 1e6))
        in_range(self, "prune", passes=(1, 64), self_share=(0, 1))

    def make_gate(self) -> Gate:
        """The gate object."""
        if self.gate == "logistic":
            return gate("logistic", sigma=self.sigma)
        if self.gate == "garrote":
            return gate("garrote", power=self.power, leak=self.leak)
        return gate(self.gate, leak=self.leak)

    def make_prior(self, name: str) -> Prior:
        """The prior object."""
        found = prior(name, self.prior_scale)
        return found if self.prior_std is None else found.with_std(self.prior_std)

    def recipe(self, prior_name: str) -> Recipe:
        """The engine's recipe."""
        temperature: Schedule = Constant(1.0)
        if self.gate == "logistic":
            temperature = Geometric(1.0, self.cool, begin=0.5)
        return Recipe(
            prior=self.make_prior(prior_name),
            gate=self.make_gate(),
            allocation=self.allocation,
            threshold=self.threshold,
            count=self.count,
            ramp=Ramp(0.0, 1.0, end=self.ramp) if self.ramp else Constant(1.0),
            temperature=temperature,
            kl=Window(self.kl, end=self.freeze, power=self.kl_decay),
            histogram=self.histogram,
            bins=self.bins,
            start=self.start,
            gain=self.gain or "variance",
            freeze=self.freeze,
            live=self.live,
            floor=self.floor,
            every=self.every,
            hold=Rise(self.hold_first, self.hold, end=self.ramp, power=HOLD_POWER),
            dual=self.dual,
            spacing=self.spacing,
        )
