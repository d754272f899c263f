"""The one description of a run: built by the command line, stored in the run folder, read on resume."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import tyro

from bandstop.errors import ConfigError
from bandstop.method.budget import Budget
from bandstop.nets.config import NetConfig
from bandstop.record.augment import AugmentConfig
from bandstop.record.budget import BudgetChoice
from bandstop.record.data_forms import FORMS
from bandstop.record.drop import DropChoice
from bandstop.record.fields import check_fields, number
from bandstop.record.reading import AS_IT_SAYS, Reading
from bandstop.record.signal import signal_parts
from bandstop.record.typed_json import build
from bandstop.rivals import NAMES
from bandstop.training.lr import Rule
from bandstop.training.prune_config import PruneConfig

__all__ = ["DistillConfig", "OptimConfig", "PruneConfig", "RunConfig"]

_FORMER = ("passes", "self_share", "follow")
"""Settings of version 0.1, for many rates in every step: they are in the config of every run of it."""


@dataclass(frozen=True)
class OptimConfig:
    """The optimiser."""

    kind: Literal["adamw", "adam"] = "adamw"
    """AdamW, or Adam as in the paper."""
    lr: float = number(1e-2, 0)
    """Learning rate."""
    latent_lr: float = number(2e-1, 0)
    """Learning rate of latent weights (pruned runs)."""
    weight_decay: float = number(1e-2, 0, 1e3)
    """Weight decay of dense weights."""
    batch: int = number(75, 2)
    """Sequences per batch."""
    rule: Rule = "cosine"
    """Learning-rate rule."""
    warmup: float = number(0.03, 0, 1)
    """Share of training with rising learning rate."""
    hold: float | None = number(None, 0, 1)
    """Share of training before the cosine's fall begins; unless given, none in a dense training and half in a
    pruned one."""
    smoothing: float = number(0.0, 0, 1)
    """Label smoothing."""
    average: float = number(0.0, 0, 1)
    """Decay of the moving average of weights used once the mask is fixed; 0 for none."""

    def __post_init__(self) -> None:
        check_fields(self, "optim.")


@dataclass(frozen=True)
class DistillConfig:
    """Learning from finished dense runs."""

    teachers: Annotated[tuple[str, ...], tyro.conf.arg(metavar="RUN …")] = ()
    """Run folders whose averaged predictions are learned from; their training is an extra cost."""
    share: float = number(0.7, 0, 1)
    """Share of the loss that comes from the teachers."""
    temperature: float = number(2.0, 1e-3, 1e3)
    """Softening of predictions."""

    def __post_init__(self) -> None:
        check_fields(self, "distill.")


@dataclass(frozen=True, kw_only=True)
class RunConfig(BudgetChoice, DropChoice):
    """A whole run. ``resolved()`` fills in what depends on other settings."""

    data: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DATA", help=f"{FORMS}.")] = "hands"
    """The sequences, named as `bandstop.skeleton.load` takes them."""
    method: Annotated[str, tyro.conf.arg(metavar="METHOD")] = "pmp"
    """pmp; dense for no pruning; or a rival: mp, mp-lamp, gmp, gmp-erk, gmp-lamp, set, rigl, …
    (docs/rivals.md)."""
    rates: Annotated[str | None, tyro.conf.arg(metavar="LOWEST:HIGHEST")] = None
    """Budget: every rate of a range at once; `bandstop extract` takes any of them out of
    the run."""
    rival: Annotated[tuple[tuple[str, float | str], ...], tyro.conf.arg(metavar="NAME VALUE …")] = ()
    """Settings of a rival method that differ from the published ones."""
    prior: Literal["laplace", "gaussian", "uniform", "student"] = "laplace"
    """Prior of the latent weights."""
    preset: Literal["default", "empirical", "held", "paper", "paper-literal"] = "default"
    """The preset that the other settings start from: latents held to the prior, whose quantile is the
    threshold (default, and held says it by name); free latents, among which the threshold is looked for
    (empirical); or the paper's (docs/prior-holds.md)."""
    seed: int = number(0, 0, 2**31 - 1)
    """Seed of everything random."""
    epochs: int = number(400, 1)
    """Passes over the training set."""
    chunks: int = number(32, 2)
    """Temporal chunks per sequence."""
    signal: Annotated[str | None, tyro.conf.arg(metavar="PARTS")] = None
    """What the network sees of a joint: its places; motion, which is places, steps and the duration as one
    list; or places+PART+… chunk by chunk, of the parts steps, slow, bones, distances, duration and
    moment. Unless given: places+steps+distances+duration for convolutions over time, places for others."""
    normalise: Literal["size", "orientation", "size+orientation", "none"] = "size"
    """What is taken out of each sequence: its size (mean bone length), the way it is turned at its begin."""
    validation: float = number(0.0, 0, 0.95)
    """Share of the training split held out and reported instead of the test split (for choosing settings)."""
    threads: int = number(1, 1, 1024)
    """Threads of torch: one is fastest for nets this small."""
    reading: Annotated[Reading, tyro.conf.arg(name="")] = AS_IT_SAYS
    extracted_from: Annotated[str | None, tyro.conf.Suppress] = None
    """The run, trained for many rates, that this one was taken out of."""
    joined_from: Annotated[tuple[str, ...], tyro.conf.Suppress] = ()
    """The runs whose networks this one has side by side."""
    net: NetConfig = field(default_factory=NetConfig)
    prune: PruneConfig = field(default_factory=PruneConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    distill: DistillConfig = field(default_factory=DistillConfig)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, "config.")
        asked = bool(self.asked)
        if self.method not in ("pmp", "dense", *NAMES):
            names = ", ".join(NAMES)
            raise ConfigError(f"method must be one of pmp, dense, {names}; found {self.method!r}")
        if self.method != "pmp" and asked == (self.method == "dense"):
            problem = "keeps every weight: leave out" if asked else "needs one: add"
            raise ConfigError(f"method {self.method} {problem} a budget such as --rate 0.98")
        if self.rates is not None and self.method != "pmp":
            raise ConfigError(
                f"only method pmp trains for many rates at once, found {self.method} with --rates"
            )
        parts = signal_parts(self.seen)  # refuses what is no signal
        if (self.signal == "motion" or parts) and self.net.kind == "lstm":
            raise ConfigError(
                f"--signal {self.signal} is not for an LSTM, found --net.kind lstm; leave it out: "
                "an LSTM sees motion by itself"
            )
        if self.signal == "motion" and self.net.kind == "tcn":
            raise ConfigError(
                "--signal motion is for the GCN, found --net.kind tcn; for convolutions over time write "
                "--signal places+steps+distances+duration"
            )
        _ = self.rate_range  # refuses what is no range

    @property
    def seen(self) -> str:
        """What the network sees of a joint: ``signal``, or what its kind does best with (docs/recipe.md).

        >>> RunConfig(rate=0.98).seen, RunConfig(rate=0.98, net=NetConfig(kind="gcn")).seen
        ('places+steps+distances+duration', 'places')
        """
        usual = "places+steps+distances+duration" if self.net.kind == "tcn" else "places"
        return usual if self.signal is None else self.signal

    @property
    def rate_range(self) -> tuple[float, float] | None:
        """The lowest and highest rate of a training for many."""
        return None if self.rates is None else parse_range(self.rates)

    @property
    def budget(self) -> Budget | None:
        """The asked budget, or the highest of a range; none for a dense run."""
        single = super().budget
        return Budget.rate(self.rate_range[1]) if single is None and self.rate_range is not None else single

    @property
    def dense(self) -> bool:
        """Whether nothing is pruned."""
        return self.method == "dense" or self.budget is None

    @property
    def _pruned_dropout(self) -> float:
        """Beyond 98 % the budget itself regularises enough."""
        rate = self.rate if self.rate_range is None else self.rate_range[0]
        return 0.2 if self.method == "pmp" and rate is not None and rate <= 0.98 else 0.0

    def resolved(self) -> RunConfig:
        """With what depends on other settings filled in."""
        unpruned = self.dense or self.method == "small-dense"
        dropout, hold = (0.3, 0.0) if unpruned else (self._pruned_dropout, 0.5)
        decided = {
            "gain": "variance" if self.net.kind == "lstm" else "fixed",
            "threshold": self.prune.rule,
            "spacing": self.prune.bin_spacing,
        }
        return dataclasses.replace(
            self,
            signal=self.seen,
            net=_filled(self.net, dropout=dropout),
            optim=_filled(self.optim, hold=hold),
            prune=_filled(self.prune, **decided),
        )

    def to_json(self) -> str:
        """As stored in a run folder."""
        return json.dumps(dataclasses.asdict(self), indent=2)

    @staticmethod
    def from_json(text: str) -> RunConfig:
        """From a run folder: unknown fields are refused by name, missing ones keep their defaults."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"config is not valid JSON: {error}") from None
        if isinstance(found, dict) and isinstance(found.get("prune"), dict):
            for name in _FORMER:
                found["prune"].pop(name, None)
        return build(RunConfig, found, "config")


def _filled(settings: Any, **values: object) -> Any:
    """``settings`` with each of ``values`` that is not given.

    >>> _filled(OptimConfig(), hold=0.5).hold, _filled(OptimConfig(hold=0.2), hold=0.5).hold
    (0.5, 0.2)
    """
    missing = {name: value for name, value in values.items() if getattr(settings, name) is None}
    return dataclasses.replace(settings, **missing)


def parse_range(text: str) -> tuple[float, float]:
    """The two ends of LOWEST:HIGHEST.

    >>> parse_range("0.5:0.995")
    (0.5, 0.995)
    """
    low, _, high = text.partition(":")
    try:
        found = float(low), float(high)
    except ValueError:
        found = 1.0, 0.0
    if not 0 <= found[0] < found[1] < 1:
        raise ConfigError(
            f"--rates needs a range of pruning rates from 0 to below 1, such as 0.5:0.995, found {text!r}"
        )
    return found
