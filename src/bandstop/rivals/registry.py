"""All rivals by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import nn

from bandstop.errors import ConfigError
from bandstop.method.budget import Budget
from bandstop.rivals.ac_dc import AcDc, AcDcSettings
from bandstop.rivals.adaptive_sparsity import AdaptiveSparsity, AdaptiveSparsitySettings
from bandstop.rivals.evolution import Evolution, EvolutionSettings
from bandstop.rivals.gradual import Gradual, GradualSettings
from bandstop.rivals.masked import MaskedMethod
from bandstop.rivals.one_shot import OneShot, OneShotSettings
from bandstop.rivals.powerprop import Powerpropagation, PowerpropagationSettings
from bandstop.rivals.prob_mask import ProbMask, ProbMaskSettings
from bandstop.rivals.random_static import RandomStatic, RandomStaticSettings
from bandstop.rivals.rigl import RigL, RigLSettings
from bandstop.rivals.settings import Settings, override
from bandstop.rivals.small_dense import SmallDense, SmallDenseSettings
from bandstop.rivals.snip import Snip, SnipSettings
from bandstop.rivals.soft_threshold import SoftThreshold, SoftThresholdSettings
from bandstop.rivals.straight_through import StraightThrough, StraightThroughSettings
from bandstop.rivals.synflow import SynFlow, SynFlowSettings
from bandstop.rivals.top_kast import TopKast, TopKastSettings

__all__ = ["NAMES", "make", "published"]


class _Rival(NamedTuple):
    method: Any
    published: Settings
    description: str


_RIVALS: dict[str, _Rival] = {
    "small-dense": _Rival(
        SmallDense, SmallDenseSettings(), "A dense net whose sizes are cut until its weights fit the budget."
    ),
    "random-erk": _Rival(
        RandomStatic,
        RandomStaticSettings(),
        "A random mask, layers sharing by Erdős–Rényi-kernel, never changed (Evci et al. 2020; Liu et al. 2022).",
    ),
    "mp": _Rival(
        OneShot,
        OneShotSettings(),
        "Train dense, cut the smallest magnitudes of the whole net once, retrain (Han et al. 2015).",
    ),
    "mp-lamp": _Rival(
        OneShot,
        OneShotSettings(allocation="lamp"),
        "Train dense, cut once by LAMP scores, retrain (Lee et al. 2021).",
    ),
    "gmp": _Rival(
        Gradual,
        GradualSettings(),
        "Gradual magnitude pruning with one global threshold and a cubic schedule (Zhu & Gupta 2018).",
    ),
    "gmp-erk": _Rival(
        Gradual,
        GradualSettings(allocation="erk"),
        "Gradual magnitude pruning, layers sharing by Erdős–Rényi-kernel (Zhu & Gupta 2018; Evci et al. 2020).",
    ),
    "gmp-lamp": _Rival(
        Gradual,
        GradualSettings(allocation="lamp"),
        "Gradual magnitude pruning by LAMP scores (Zhu & Gupta 2018; Lee et al. 2021).",
    ),
    "set": _Rival(
        Evolution,
        EvolutionSettings(),
        "Sparse evolutionary training: drop the smallest weights, grow at random (Mocanu et al. 2018).",
    ),
    "rigl": _Rival(
        RigL,
        RigLSettings(),
        "Drop the smallest weights, grow where the gradient is largest (Evci et al. 2020).",
    ),
    "top-kast": _Rival(
        TopKast,
        TopKastSettings(),
        "The top weights forwards, a wider set backwards, an exploration loss (Jayakumar et al. 2020).",
    ),
    "ste": _Rival(
        StraightThrough,
        StraightThroughSettings(),
        "The top weights forwards, the gradient straight through to all (Bengio et al. 2013; Lin et al. 2020).",
    ),
    "str": _Rival(
        SoftThreshold,
        SoftThresholdSettings(),
        "Soft thresholds learned layer by layer (Kusupati et al. 2020).",
    ),
    "powerprop": _Rival(
        Powerpropagation,
        PowerpropagationSettings(),
        "Weights as powers of latents, pruned gradually (Schwarz et al. 2021).",
    ),
    "ac-dc": _Rival(
        AcDc, AcDcSettings(), "Compressed and decompressed training by turns (Peste et al. 2021)."
    ),
    "probmask": _Rival(
        ProbMask,
        ProbMaskSettings(),
        "A keep-probability for every connection under one constraint on their sum (Zhou et al. 2021).",
    ),
    "asl": _Rival(
        AdaptiveSparsity,
        AdaptiveSparsitySettings(),
        "Learned thresholds and a budget loss that assumes gaussian weights (Retsinas et al. 2020).",
    ),
    "snip": _Rival(
        Snip, SnipSettings(), "Prune before training by |weight × gradient| on one batch (Lee et al. 2019)."
    ),
    "synflow": _Rival(
        SynFlow,
        SynFlowSettings(),
        "Prune before training and without data by synaptic flow (Tanaka et al. 2020).",
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
    return _find(name).published


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

    >>> import torch
    >>> method = make("gmp-lamp", nn.Sequential(nn.Linear(8, 16), nn.Linear(16, 4)), 0.9, steps=10, settings={"end": 0.5})
    >>> method.kept, sum(int(p.count_nonzero()) for p in method.finalize().parameters() if p.ndim > 1)
    (192, 19)
    >>> make("grasp", nn.Linear(2, 2), 0.5, steps=1)
    Traceback (most recent call last):
    ...
    bandstop.errors.ConfigError: there is no method 'grasp'; choose one of small-dense, random-erk, mp, mp-lamp, gmp, gmp-erk, gmp-lamp, set, rigl, top-kast, ste, str, powerprop, ac-dc, probmask, asl, snip, synflow
    """
    rival = _find(name)
    made: MaskedMethod[Any] = rival.method(
        net, budget, steps=steps, settings=override(rival.published, settings, name), example=example
    )
    return made
