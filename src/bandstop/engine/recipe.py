"""A recipe: every choice of the method in one frozen object, with the two presets `paper` and `default`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bandstop.engine.select.allocation import ALLOCATIONS
from bandstop.errors import ConfigError
from bandstop.method.gate import Gate, Logistic, Soft
from bandstop.method.priors import Laplace, Prior
from bandstop.method.schedules import Constant, Geometric, Ramp, Schedule, Window

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """How a network is brought to its budget."""

    prior: Prior = field(default_factory=lambda: Laplace(1.0))
    """The distribution that the latent weights of each layer are pulled to (and start from)."""
    gate: Gate = field(default_factory=Soft)
    """ψ."""
    allocation: str = "lamp"
    """How layers share the budget: learned (they compete by latent magnitude), lamp (scores of the prior), uniform, erk, given."""
    densities: tuple[tuple[str, float], ...] = ()
    """Relative densities by layer name, for allocation "given"."""
    threshold: Literal["empirical", "prior"] = "empirical"
    """a from the latent weights' own quantile (exact at every update) or from the prior's, a = F⁻¹(r) (the paper)."""
    count: Literal["exact", "passing"] = "exact"
    """What stays in the end: exactly the budget, or whatever passes the threshold (the paper), which the prior's fit makes near to it."""
    ramp: Schedule = field(default_factory=lambda: Ramp(0.0, 1.0, end=0.7))
    """Share of the final rate that applies at each moment of training."""
    temperature: Schedule = field(default_factory=lambda: Constant(1.0))
    """τ of gates that have one."""
    kl: Schedule = field(default_factory=lambda: Window(0.0))
    """λ, the weight of KL(P‖Q)."""
    histogram: Literal["layer", "pooled"] = "layer"
    """One histogram a layer, or one for all."""
    bins: int = 100
    """K."""
    start: Literal["rank", "scale"] = "rank"
    """Latent weights start as the prior's quantiles in the order of the given weights, or as the given weights rescaled."""
    gain: Literal["variance", "fixed", "learned"] = "variance"
    """The layers' scales g: raised as fewer connections pass, so that a layer's output keeps its variance (``bandstop.method.gain``); as set
    from the given weights; or trained. A trained gain drifts where a normalisation follows its layer (docs/recipe.md)."""
    freeze: float = 0.8
    """Progress at which the mask is fixed; 1 for never."""
    live: bool | None = None
    """Spend the budget on live connections only; unless given, when the pruner has an example input to trace. Where branches run side
    by side this may leave one of them without connections."""
    floor: int = 1
    """Fewest connections that any layer keeps; 0 allows empty layers."""
    every: int = 4
    """Thresholds are renewed every so many steps."""

    def __post_init__(self) -> None:
        if self.allocation not in ALLOCATIONS:
            raise ConfigError(
                f"allocation must be one of {', '.join(ALLOCATIONS)}, found {self.allocation!r}"
            )
        if self.bins < 3:
            raise ConfigError(f"bins must be at least 3, found {self.bins}")
        if self.live and self.freeze == 1:
            raise ConfigError(
                "live connections need a mask that is fixed before the end (freeze < 1): what completes a path starts near zero"
            )
        if self.live and self.count == "passing":
            raise ConfigError(
                'live connections are chosen to an exact count: set live=False with count="passing"'
            )
        if not 0 < self.freeze <= 1:
            raise ConfigError(f"freeze must be in (0, 1], found {self.freeze}")
        if self.every < 1:
            raise ConfigError(f"every must be at least 1, found {self.every}")
        if self.floor < 0:
            raise ConfigError(f"floor must be 0 (layers may be emptied) or more, found {self.floor}")

    @staticmethod
    def paper(prior: Prior | None = None) -> Recipe:
        """The paper's method, literal but for its errata: logistic gate, pooled histogram, λ = 10, a = F⁻¹(r), K = 100.

        It makes the count exact in the end, which the paper does not (``count="passing"``); how latents start the paper leaves open.

        >>> Recipe.paper().kl(0.5), Recipe.paper().histogram
        (10.0, 'pooled')
        """
        return Recipe(
            prior=prior or Laplace(1.0),
            gate=Logistic(sigma=1.0),
            allocation="learned",
            threshold="prior",
            ramp=Constant(1.0),
            temperature=Geometric(1.0, 1e-3, begin=0.5),
            kl=Constant(10.0),
            histogram="pooled",
            gain="fixed",
            freeze=1.0,
        )

    @staticmethod
    def default(prior: Prior | None = None) -> Recipe:
        """The best recipe known (docs/recipe.md says what each part is worth)."""
        return Recipe(prior=prior or Laplace(1.0))
