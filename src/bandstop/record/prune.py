"""The plain choices of the pruning method, written once.

``bandstop.Recipe`` adds the choices that are objects (prior, gate, schedules), a run's config the flags that
name them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from bandstop.errors import ConfigError
from bandstop.record.fields import check_fields, number

__all__ = [
    "ALLOCATIONS",
    "FINETUNE_FREEZE",
    "FINETUNE_RAMP",
    "HOLD",
    "HOLD_FIRST",
    "HOLD_POWER",
    "PAPER",
    "PAPER_COOL",
    "PAPER_KL",
    "SWEEP_AVERAGE",
    "SWEEP_EPOCHS",
    "SWEEP_FROM",
    "SWEEP_LR",
    "SWEEP_UNTIL",
    "WAYPOINTS",
    "Allocation",
    "Coordinates",
    "Count",
    "Gain",
    "Histogram",
    "PruneChoices",
    "Spacing",
    "Start",
    "Threshold",
]

Allocation = Literal["learned", "uniform", "erk", "lamp", "adapted", "given"]
Threshold = Literal["empirical", "prior", "held"]
Count = Literal["exact", "passing"]
Histogram = Literal["layer", "pooled"]
Start = Literal["auto", "rank", "scale"]
Spacing = Literal["width", "probability"]
Coordinates = Literal["gaussian", "prior"]
Gain = Literal["variance", "fixed", "learned"]

ALLOCATIONS: tuple[str, ...] = get_args(Allocation)


@dataclass(frozen=True, kw_only=True)
class PruneChoices:
    """How a network is brought to its budget, as far as a word or a number can say it.

    >>> PruneChoices(bins=2)
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: bins must be in [3, 10000], found 2
    """

    prefix: ClassVar[str] = ""
    """What stands before a field's name in a message."""

    allocation: Allocation = "lamp"
    """How layers share the budget: learned (they compete by latent magnitude), lamp (scores of the prior's
    quantiles), adapted (lamp, and layers whose latents outgrow the prior take from the others), uniform (one
    density for all), erk (Erdős–Rényi-kernel) or given (densities by layer name)."""
    threshold: Threshold | None = None
    """Threshold from the prior's quantile at each layer's scale, with latents that are held to the prior
    (held); from the latent weights' own quantile (empirical, exact at every update); or from the prior's
    quantile a = F⁻¹(r), whatever the latents do (prior, the paper). Unless given, held; but empirical where a
    trained network keeps its function (start scale) and where layers compete by the size of their latents
    (allocation learned or adapted)."""
    count: Count = "exact"
    """What stays in the end: exactly the budget, or whatever passes the threshold (the paper), which is near
    the budget where the latents follow the prior."""
    histogram: Histogram = "layer"
    """One histogram per layer, or one for all layers together."""
    bins: int = number(100, 3, 10_000)
    """Bins of the histogram, K."""
    start: Start = "rank"
    """Latent weights start as the prior's quantiles in the order of the given weights (rank), as the given
    weights rescaled, so that a trained network keeps its function (scale), or as one of the two, by whether
    the network was trained before (auto)."""
    gain: Gain | None = None
    """Scale of each layer: raised as fewer connections pass, so that the layer's output keeps its variance
    (variance); as set from the given weights (fixed); or trained (learned). A trained gain drifts where a
    normalisation follows its layer. Unless given, fixed in a GCN, whose layers are normalised, and
    variance in every other network."""
    freeze: float = number(0.8, 0, 1, above=True)
    """Share of training after which the mask is fixed; 1 for never."""
    live: bool | None = None
    """Spend the budget on live connections only. Unless given, whenever an example input can be traced. Where
    branches run side by side this may leave one of them without connections."""
    floor: int = number(1, 0)
    """Fewest connections that a layer keeps; 0 allows empty layers."""
    every: int = number(4, 1)
    """Renew the thresholds every so many steps."""
    kl_every: int = number(1, 1)
    """Have the KL in the loss at every so many renewals of the thresholds only, times as many steps."""
    dual: float = number(0.0, 0)
    """Speed of the dual variable that steers the observed rate to the asked one through the loss; 0 for none.
    For thresholds from the prior's quantile."""
    dual_damping: float = number(0.0, 0)
    """How strongly the dual variable also answers the excess of the moment, so that the rate does not swing
    around the asked one."""
    coordinates: Coordinates = "gaussian"
    """Threshold held: the optimiser moves the latents in gaussian coordinates, in which every prior has the
    steps of a gaussian one, or in the prior's own."""
    spacing: Spacing | None = None
    """Bins of the histogram of equal width, or of equal probability under the prior. Unless given,
    probability where latents are held, and width elsewhere."""

    @property
    def rule(self) -> Threshold:
        """``threshold``, or what follows from the other choices where none is given.

        >>> PruneChoices().rule, PruneChoices(start="scale").rule, PruneChoices(allocation="learned").rule
        ('held', 'empirical', 'empirical')
        """
        competing = self.allocation in ("learned", "adapted")
        return self.threshold or ("empirical" if competing or self.start == "scale" else "held")

    @property
    def bin_spacing(self) -> Spacing:
        """``spacing``, or what follows from the threshold where none is given.

        >>> PruneChoices().bin_spacing, PAPER.bin_spacing
        ('probability', 'width')
        """
        return self.spacing or ("probability" if self.rule == "held" else "width")

    def __post_init__(self) -> None:
        check_fields(self, self.prefix)
        if self.live and self.freeze == 1:
            raise ConfigError(
                "live connections need a mask that is fixed before the end (freeze < 1): connections added "
                "to complete a path start near zero and need training after the freeze"
            )
        if self.live and self.count == "passing":
            raise ConfigError(
                'live connections are chosen to an exact count: set live=False with count="passing"'
            )
        if self.dual and self.threshold != "prior":
            raise ConfigError(
                'dual steers the rate that the prior\'s quantile gives: set threshold="prior", '
                f"found {self.threshold!r}"
            )
        if self.dual_damping and not self.dual:
            raise ConfigError(
                "dual_damping damps the dual variable, and there is none: set dual = 1 too, "
                f"found dual_damping = {self.dual_damping:g}"
            )


PAPER = PruneChoices(
    allocation="learned", threshold="prior", histogram="pooled", gain="fixed", freeze=1.0, every=1
)
"""The paper's choices."""
PAPER_KL = 10.0
"""The paper's λ."""
PAPER_COOL = 1e-3
"""Final temperature of the paper's gate, which must end as a hard threshold."""

HOLD_FIRST, HOLD, HOLD_POWER = 0.15, 0.7, 4.0
"""How far latents that are held to the prior go at each renewal of the thresholds: at first, once the full
rate applies, and the power with which it rises between."""

FINETUNE_RAMP, FINETUNE_FREEZE = 0.5, 0.7
"""Share of a fine-tuning over which the rate rises, and after which the mask is fixed."""

SWEEP_FROM, SWEEP_UNTIL = 0.3, 0.95
"""Many rates: shares of training at which the rate has risen to the lowest and to the highest."""
SWEEP_AVERAGE = 0.02
"""Many rates: over which share of training parameters are averaged."""
WAYPOINTS = 16
"""Many rates: the averages kept between the lowest and the highest rate."""
SWEEP_EPOCHS = 2.65
"""Epochs of a training for many rates for each of a training for one: it costs less than three."""
SWEEP_LR = 0.3
"""Learning rate of a training for many rates, in those of the begin of a training for one; it does not
fall."""
