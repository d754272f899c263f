"""The one description of a run: what the command line builds, the run folder stores and a resumed run reads."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Annotated, Literal

import tyro

from bandstop import rivals
from bandstop.errors import ConfigError
from bandstop.method.budget import Budget
from bandstop.nets import NetConfig
from bandstop.skeleton.augment import Augmentation
from bandstop.training.lr import Rule
from bandstop.training.prune_config import PruneConfig
from bandstop.training.typed_json import build, in_range

__all__ = ["DistillConfig", "OptimConfig", "PruneConfig", "RunConfig"]


@dataclass(frozen=True)
class OptimConfig:
    """The optimiser."""

    kind: Literal["adamw", "adam"] = "adamw"
    """AdamW, or Adam as in the paper."""
    lr: float = 1e-2
    """Learning rate."""
    latent_lr: float = 2e-1
    """Learning rate of latent weights (pruned runs)."""
    weight_decay: float = 1e-2
    """Weight decay of dense weights."""
    batch: int = 75
    """Sequences a batch."""
    rule: Rule = "cosine"
    """Learning-rate rule."""
    warmup: float = 0.03
    """Share of training with rising learning rate."""
    hold: float | None = None
    """Share of training before the cosine's fall begins; unless given, none in a dense training and half in a pruned one."""
    smoothing: float = 0.0
    """Label smoothing."""
    average: float = 0.0
    """Decay of the moving average of weights used once the mask is fixed; 0 for none."""

    def __post_init__(self) -> None:
        in_range(self, "optim", lr=(0, 1e30), latent_lr=(0, 1e30), weight_decay=(0, 1e3), batch=(2, 10**9))
        in_range(self, "optim", warmup=(0, 1), hold=(0, 1), smoothing=(0, 1), average=(0, 1))


@dataclass(frozen=True)
class DistillConfig:
    """Learning from finished dense runs."""

    teachers: tuple[str, ...] = ()
    """Run folders whose averaged predictions are learned from; their training is an extra cost."""
    share: float = 0.7
    """Share of the loss that comes from the teachers."""
    temperature: float = 2.0
    """Softening of predictions."""

    def __post_init__(self) -> None:
        in_range(self, "distill", share=(0, 1), temperature=(1e-3, 1e3))


@dataclass(frozen=True)
class RunConfig:
    """A whole run, resolved."""

    data: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")] = "hands"
    """hands, fpha:PATH, sbu:PATH[@FOLD], utd-mhad:PATH, pyskl:PATH, mediapipe:PATH, a folder or an archive .npz."""
    method: str = "pmp"
    """pmp; dense for no pruning; or a rival: mp, mp-lamp, gmp, gmp-erk, gmp-lamp, set, rigl, … (docs/rivals.md)."""
    rate: float | None = None
    """Budget: share of the weights to remove."""
    rates: str | None = None
    """Budget: every rate of a range LOWEST:HIGHEST at once; `bandstop extract` takes any of them out of the run."""
    weights: int | None = None
    """Budget: number of weights to keep."""
    bytes: int | None = None
    """Budget: bytes of the sparse network."""
    macs: int | None = None
    """Budget: multiply-accumulates an inference."""
    scope: Literal["prunable", "network"] | None = None
    """Whether the budget counts prunable weights only or every parameter of the network; unless given, bytes count everything."""
    rival: tuple[tuple[str, float | str], ...] = ()
    """Settings of a rival method that differ from the published ones, as NAME VALUE pairs."""
    prior: Literal["laplace", "gaussian", "uniform", "student"] = "laplace"
    """Prior of the latent weights."""
    preset: Literal["default", "paper", "held"] = "default"
    """Which preset the settings started from."""
    seed: int = 0
    """Seed of everything random."""
    epochs: int = 400
    """Passes over the training set."""
    chunks: int = 32
    """Temporal chunks a sequence."""
    signal: Literal["places", "motion"] = "places"
    """What the GCN sees of a joint: its place in each chunk, or also its steps from chunk to chunk and how long the sequence is."""
    validation: float = 0.0
    """Share of the training split held out and reported instead of the test split (for choosing settings)."""
    threads: int = 1
    """Threads of torch: one is fastest for nets this small."""
    extracted_from: Annotated[str | None, tyro.conf.Suppress] = None
    """The run, trained for many rates, that this one was taken out of."""
    net: NetConfig = field(default_factory=NetConfig)
    prune: PruneConfig = field(default_factory=PruneConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    augment: Augmentation = field(default_factory=Augmentation)
    distill: DistillConfig = field(default_factory=DistillConfig)

    def __post_init__(self) -> None:
        asked = [k for k in ("rate", "weights", "bytes", "macs") if getattr(self, k) is not None]
        if len(asked) > 1:
            raise ConfigError(
                f"one budget at a time: found {' and '.join('--' + k for k in asked)}; give only one of them"
            )
        in_range(self, "config", epochs=(1, 10**9), chunks=(2, 10**6), threads=(1, 1024), seed=(0, 2**31 - 1))
        in_range(self, "config", validation=(0, 0.95))
        if self.method not in ("pmp", "dense", *rivals.NAMES):
            names = ", ".join(rivals.NAMES)
            raise ConfigError(f"method must be one of pmp, dense, {names}; found {self.method!r}")
        if self.method != "pmp" and bool(asked) == (self.method == "dense"):
            problem = "keeps every weight" if asked else "needs one"
            raise ConfigError(
                f"method {self.method} {problem}: {'leave out' if asked else 'add'} a budget such as --rate 0.98"
            )
        if self.rates is not None and self.method != "pmp":
            raise ConfigError(
                f"only method pmp trains for many rates at once, found {self.method} with --rates"
            )
        if self.signal == "motion" and self.net.kind != "gcn":
            raise ConfigError(
                f"--signal motion is for the GCN, found --net.kind {self.net.kind}; leave it out: an LSTM sees motion by itself"
            )
        _ = self.budget, self.rate_range  # refuses amounts that no network can meet

    @property
    def rate_range(self) -> tuple[float, float] | None:
        """The lowest and highest rate of a training for many."""
        return None if self.rates is None else parse_range(self.rates)

    @property
    def budget(self) -> Budget | None:
        """The asked budget, or the highest of a range; none for a dense run."""
        for kind in ("rate", "weights", "bytes", "macs"):
            amount = getattr(self, kind)
            if amount is not None:
                return Budget(kind, amount, self.scope or ("network" if kind == "bytes" else "prunable"))
        return None if self.rate_range is None else Budget.rate(self.rate_range[1])

    @property
    def dense(self) -> bool:
        """Whether nothing is pruned."""
        return self.method == "dense" or self.budget is None

    @property
    def _pruned_dropout(self) -> float:
        """Beyond 98 % the budget itself regularises enough."""
        return 0.2 if self.method == "pmp" and self.rate is not None and self.rate <= 0.98 else 0.0

    def resolved(self) -> RunConfig:
        """With what depends on other settings filled in."""
        dropout, hold = (
            (0.3, 0.0) if self.dense or self.method == "small-dense" else (self._pruned_dropout, 0.5)
        )
        dropout = dropout if self.net.dropout is None else self.net.dropout
        hold = hold if self.optim.hold is None else self.optim.hold
        net, optim = (
            dataclasses.replace(self.net, dropout=dropout),
            dataclasses.replace(self.optim, hold=hold),
        )
        gain = self.prune.gain or ("fixed" if self.net.kind == "gcn" else "variance")
        return dataclasses.replace(
            self, net=net, optim=optim, prune=dataclasses.replace(self.prune, gain=gain)
        )

    def to_json(self) -> str:
        """As stored in a run folder."""
        return json.dumps(dataclasses.asdict(self), indent=2)

    @staticmethod
    def from_json(text: str) -> RunConfig:
        """From a run folder; unknown or missing fields are refused by name."""
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            raise ConfigError(f"config is not valid JSON: {error}") from None
        return build(RunConfig, found, "config")


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
