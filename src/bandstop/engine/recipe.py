"""A recipe: every choice of the method in one frozen object, with presets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bandstop.errors import ConfigError
from bandstop.method.chart import BASE
from bandstop.method.gate import Gate, Logistic, Soft
from bandstop.method.priors import Gaussian, Laplace, Prior
from bandstop.method.schedules import Constant, Geometric, Ramp, Rise, Schedule, Window
from bandstop.record.prune import (
    FINETUNE_FREEZE,
    FINETUNE_RAMP,
    HOLD,
    HOLD_FIRST,
    HOLD_POWER,
    PAPER,
    PAPER_COOL,
    PAPER_KL,
    Gain,
    PruneChoices,
    Start,
)

__all__ = ["Recipe"]


@dataclass(frozen=True, kw_only=True)
class Recipe(PruneChoices):
    """How a network is brought to its budget.

    >>> Recipe(allocation="erk", freeze=0.9).gate
    Soft(leak=1.0)
    """

    prior: Prior = field(default_factory=lambda: Laplace(1.0))
    """The distribution that the latent weights of each layer are pulled to (and start from)."""
    gate: Gate = field(default_factory=Soft)
    """ψ."""
    densities: tuple[tuple[str, float], ...] = ()
    """Relative densities by layer name, for allocation "given"."""
    ramp: Schedule = field(default_factory=lambda: Ramp(0.0, 1.0, end=0.7))
    """How much of the final pruning applies at each moment of training, 0 to 1."""
    temperature: Schedule = field(default_factory=lambda: Constant(1.0))
    """τ of gates that have one."""
    kl: Schedule = field(default_factory=lambda: Window(0.0))
    """λ, the weight of KL(P‖Q)."""
    hold: Schedule = field(default_factory=lambda: Rise(HOLD_FIRST, HOLD, end=0.7, power=HOLD_POWER))
    """Fraction of the way to the prior's quantiles that latents go whenever thresholds are renewed, with
    threshold "held"."""
    start: Start = "auto"
    """How latents start: as the given weights rescaled, which keeps the function of a trained network
    ("scale"), or as the prior's quantiles in the order of the weights ("rank"). "auto" tells trained
    networks from new ones (``bandstop.engine.attach.trained``); ``Pruner.outcome`` says what was chosen and
    why."""
    gain: Gain = "variance"
    """Scale of each layer: "variance" raises it as fewer connections pass, so that the layer's output keeps
    its variance (``bandstop.method.gain``); "fixed" leaves it as set from the given weights; "learned" trains
    it. A trained gain drifts where a normalisation follows its layer (docs/recipe.md)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.prior, Prior):
            raise ConfigError(f"prior must be a Prior such as Laplace(1.0), found {self.prior!r}")
        if not isinstance(self.gate, Gate):
            raise ConfigError(f"gate must be a Gate such as Soft(), found {self.gate!r}")
        for name in ("ramp", "temperature", "kl", "hold"):
            if not callable(value := getattr(self, name)):
                raise ConfigError(f"{name} must be a Schedule such as Constant(1.0), found {value!r}")

    @property
    def trained_prior(self) -> Prior:
        """What the trained numbers follow: the prior, or a gaussian where they are its coordinates.

        >>> Recipe(prior=Laplace(1.0)).trained_prior, Recipe.empirical(Laplace(2.0)).trained_prior
        (Gaussian(scale=1.0), Laplace(scale=2.0))
        """
        return BASE if self.charted else self.prior

    @property
    def charted(self) -> bool:
        """Whether latents are the prior's image of gaussian numbers (``bandstop.method.chart``)."""
        other = not isinstance(self.prior, Gaussian)
        return self.rule == "held" and self.coordinates == "gaussian" and other

    def renews(self, taken: int, progress: float) -> bool:
        """Whether thresholds are renewed after step ``taken``: every N steps, N = ``every``.

        Latents that are held move whenever thresholds are renewed, and from the end of the ramp on, until the
        mask is fixed, every N/2 steps.

        >>> [Recipe().renews(taken, 0.7) for taken in (1, 2, 4)]
        [False, True, True]
        >>> Recipe().renews(2, 0.5), Recipe.empirical().renews(2, 0.7)
        (False, False)
        """
        settled = self.rule == "held" and self.ramp(progress) >= 1
        return taken % (max(self.every // 2, 1) if settled else self.every) == 0

    @staticmethod
    def of(recipe: Recipe | None) -> Recipe:
        """A recipe as it is; the default for None."""
        if recipe is not None and not isinstance(recipe, Recipe):
            raise ConfigError(f"recipe must be a Recipe, found {type(recipe).__name__} {recipe!r}")
        return recipe or Recipe.default()

    def spends_on_live(self, example: Any) -> bool:
        """Whether the budget is for live connections only: as ``live`` says, or if it can be.

        >>> Recipe().spends_on_live(None), Recipe().spends_on_live(example=(1.0,))
        (False, True)
        """
        if self.live is None:
            return example is not None and self.freeze < 1 and self.count == "exact"
        if self.live and example is None:
            raise ConfigError(
                "only live connections can be kept with an example input to trace: give example=…"
            )
        return self.live

    @staticmethod
    def paper(prior: Prior | None = None) -> Recipe:
        """The paper's method but for its errata: logistic gate, pooled histogram, λ = 10, a = F⁻¹(r).

        It makes the count exact in the end, which the paper does not (``count="passing"``). How latents start
        the paper leaves open. A run's preset `paper` adds what its figures need (docs/prior-holds.md).

        >>> Recipe.paper().kl(0.5), Recipe.paper().histogram
        (10.0, 'pooled')
        """
        return Recipe(
            **vars(PAPER),
            prior=prior or Laplace(1.0),
            gate=Logistic(sigma=1.0),
            ramp=Constant(1.0),
            temperature=Geometric(1.0, PAPER_COOL, begin=0.5),
            kl=Constant(PAPER_KL),
        )

    @staticmethod
    def default(prior: Prior | None = None) -> Recipe:
        """Latents held to the prior, whose quantile is the threshold (docs/prior-holds.md); ``finetune``
        where the network was trained before.

        >>> Recipe.default() == Recipe(), Recipe.default().prior, Recipe.default().rule
        (True, Laplace(scale=1.0), 'held')
        """
        return Recipe(prior=prior or Laplace(1.0))

    @staticmethod
    def held(prior: Prior | None = None) -> Recipe:
        """The default, for a network that was trained before too: its latents start anew, and are held.

        >>> Recipe.held().rule, Recipe.held().start
        ('held', 'rank')
        """
        return Recipe(prior=prior or Laplace(1.0), threshold="held", spacing="probability", start="rank")

    @staticmethod
    def empirical(prior: Prior | None = None) -> Recipe:
        """The default of before: latents are free, and each layer's threshold is looked for among them.

        >>> Recipe.empirical().rule
        'empirical'
        """
        return Recipe(prior=prior or Laplace(1.0), threshold="empirical", spacing="width")

    @staticmethod
    def finetune(prior: Prior | None = None) -> Recipe:
        """The default for a network that was trained before (docs/fine-tuning.md).

        It starts as it is, layers whose latents outgrow the prior get more of the budget, and the rate rises
        earlier, because fine-tuning is short.

        >>> Recipe.finetune().start, Recipe.finetune().ramp(0.0)
        ('scale', 0.0)
        """
        ramp = Ramp(0.0, 1.0, end=FINETUNE_RAMP)
        choices = PruneChoices(start="scale", allocation="adapted", freeze=FINETUNE_FREEZE, gain="variance")
        return Recipe(**vars(choices), prior=prior or Laplace(1.0), ramp=ramp)
