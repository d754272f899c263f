"""All rivals by name. Reading the names imports no torch: a rival's module is imported when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from bandstop.errors import ConfigError
from bandstop.rivals.settings import Settings, override

if TYPE_CHECKING:
    from torch import nn

    from bandstop.method.budget import Budget
    from bandstop.rivals.masked import MaskedMethod

__all__ = ["NAMES", "make", "published"]


class _Rival(NamedTuple):
    """Module and class of a rival; its settings are the class ``<name>Settings`` beside it."""

    module: str
    name: str
    description: str
    variant: Mapping[str, Any] = {}
    """Settings in which this variant of the published method differs."""

    def find(self, suffix: str = "") -> Any:
        return getattr(import_module(f"bandstop.rivals.{self.module}"), self.name + suffix)


_RIVALS: dict[str, _Rival] = {
    "small-dense": _Rival(
        "small_dense", "SmallDense", "A dense net whose sizes are cut until its weights fit the budget."
    ),
    "random-erk": _Rival(
        "random_static",
        "RandomStatic",
        "A random mask, layers sharing by Erdős–Rényi-kernel, never changed (Evci et al. 2020; Liu et al. "
        "2022).",
    ),
    "mp": _Rival(
        "one_shot",
        "OneShot",
        "Train dense, cut the smallest magnitudes of the whole net once, retrain (Han et al. 2015).",
    ),
    "mp-lamp": _Rival(
        "one_shot",
        "OneShot",
        "Train dense, cut once by LAMP scores, retrain (Lee et al. 2021).",
        {"allocation": "lamp"},
    ),
    "gmp": _Rival(
        "gradual",
        "Gradual",
        "Gradual magnitude pruning with one global threshold and a cubic schedule (Zhu & Gupta 2018).",
    ),
    "gmp-erk": _Rival(
        "gradual",
        "Gradual",
        "Gradual magnitude pruning, layers sharing by Erdős–Rényi-kernel (Zhu & Gupta 2018; Evci et al. "
        "2020).",
        {"allocation": "erk"},
    ),
    "gmp-lamp": _Rival(
        "gradual",
        "Gradual",
        "Gradual magnitude pruning by LAMP scores (Zhu & Gupta 2018; Lee et al. 2021).",
        {"allocation": "lamp"},
    ),
    "set": _Rival(
        "evolution",
        "Evolution",
        "Sparse evolutionary training: drop the smallest weights, grow at random (Mocanu et al. 2018).",
    ),
    "rigl": _Rival(
        "rigl", "RigL", "Drop the smallest weights, grow where the gradient is largest (Evci et al. 2020)."
    ),
    "top-kast": _Rival(
        "top_kast",
        "TopKast",
        "The top weights forwards, a wider set backwards, an exploration loss (Jayakumar et al. 2020).",
    ),
    "ste": _Rival(
        "straight_through",
        "StraightThrough",
        "The top weights forwards, the gradient straight through to all (Bengio et al. 2013; Lin et al. "
        "2020).",
    ),
    "str": _Rival(
        "soft_threshold", "SoftThreshold", "Soft thresholds learned layer by layer (Kusupati et al. 2020)."
    ),
    "powerprop": _Rival(
        "powerprop",
        "Powerpropagation",
        "Weights as powers of latents, pruned gradually (Schwarz et al. 2021).",
    ),
    "ac-dc": _Rival("ac_dc", "AcDc", "Compressed and decompressed training by turns (Peste et al. 2021)."),
    "probmask": _Rival(
        "prob_mask",
        "ProbMask",
        "A keep-probability for every connection under one constraint on their sum (Zhou et al. 2021).",
    ),
    "asl": _Rival(
        "adaptive_sparsity",
        "AdaptiveSparsity",
        "Learned thresholds and a budget loss that assumes gaussian weights (Retsinas et al. 2020).",
    ),
    "snip": _Rival(
        "snip", "Snip", "Prune before training by |weight × gradient| on one batch (Lee et al. 2019)."
    ),
    "synflow": _Rival(
        "synflow", "SynFlow", "Prune before training and without data by synaptic flow (Tanaka et al. 2020)."
    ),
}

NAMES: dict[str, str] = {name: rival.description for name, rival in _RIVALS.items()}
"""Every rival's name and, in a sentence, what it does and whose it is."""


def _find(name: str) -> _Rival:
    if name not in _RIVALS:
        raise ConfigError(f"there is no method {name!r}; choose one of {', '.join(_RIVALS)}")
    return _RIVALS[name]


def published(name: str) -> Settings:
    """The published settings of a rival.

    >>> published("gmp").begin
    0.2
    """
    rival = _find(name)
    settings: Settings = rival.find("Settings")(**rival.variant)
    return settings


def make(
    name: str,
    net: nn.Module,
    budget: Budget | float,
    *,
    steps: int,
    example: Any = None,
    settings: Mapping[str, Any] | None = None,
) -> MaskedMethod[Any]:
    """A rival attached to ``net``, with its published settings but for those given.

    >>> from torch import nn
    >>> net = nn.Sequential(nn.Linear(8, 16), nn.Linear(16, 4))
    >>> method = make("gmp-lamp", net, 0.9, steps=10, settings={"end": 0.5})
    >>> method.kept, sum(int(p.count_nonzero()) for p in method.finalize().parameters() if p.ndim > 1)
    (192, 19)
    >>> make("grasp", nn.Linear(2, 2), 0.5, steps=1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    bandstop.errors.ConfigError: there is no method 'grasp'; choose one of small-dense, random-erk, mp, ...
    """
    chosen = override(published(name), settings, name)
    made: MaskedMethod[Any] = _find(name).find()(net, budget, steps=steps, settings=chosen, example=example)
    return made
