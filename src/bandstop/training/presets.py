"""What the settings of a run start from: defaults, the paper's, or those for many rates at once."""

from __future__ import annotations

import dataclasses

from bandstop.record.augment import AugmentConfig
from bandstop.record.prune import MANY_RATES_FREEZE, MANY_RATES_RAMP, PAPER, PAPER_KL
from bandstop.training.config import OptimConfig, PruneConfig, RunConfig

__all__ = ["PAPER_EPOCHS", "held", "live_config", "many_rates", "paper", "starting_config"]

PAPER_EPOCHS = 2700
"""Length of training in the paper."""


def starting_config(preset: str | None, *, rates: bool = False) -> RunConfig:
    """The settings that flags or a plan then change: the same through `bandstop train` and `bandstop study`.

    ``rates``: whether the training is for many rates at once.

    >>> starting_config("paper").epochs, starting_config(None, rates=True).epochs
    (2700, 1200)
    """
    if preset == "paper":
        return paper(RunConfig(epochs=PAPER_EPOCHS))
    if preset == "held":
        return held(RunConfig())
    return many_rates(RunConfig()) if rates else RunConfig()


def paper(config: RunConfig) -> RunConfig:
    """The paper's settings, literal but for its errata: λ = 10, K = 100, Adam, batch 600.

    The epochs stay as asked, so that a short trial of the preset is possible. The paper keeps what passes
    (``--prune.count passing``); a run has the asked count exactly, at a price in this preset.
    """
    shared = {**vars(PAPER), "live": False}
    prune = PruneConfig(**shared, gate="logistic", ramp=0.0, kl=PAPER_KL)
    optim = OptimConfig(
        kind="adam", lr=1e-2, latent_lr=1e-2, weight_decay=0.0, batch=600, rule="paper-speed", warmup=0.0
    )
    net = dataclasses.replace(config.net, adjacency="free", dropout=0.0)
    augment = AugmentConfig(crop=0, warp=0, rotation=0, scale=0, noise=0)
    return dataclasses.replace(config, preset="paper", prune=prune, optim=optim, net=net, augment=augment)


def held(config: RunConfig) -> RunConfig:
    """The default with latents held to a gaussian prior, whose quantile is the threshold.

    See docs/prior-holds.md.
    """
    prune = dataclasses.replace(config.prune, threshold="held", spacing="probability")
    return dataclasses.replace(config, preset="held", prior="gaussian", prune=prune)


def many_rates(config: RunConfig) -> RunConfig:
    """The settings of a training for many rates at once: see ``bandstop.engine.multirate``.

    It has three times the epochs: the latents learn to serve every rate, and one training stands for as many
    as there are budgets.
    """
    prune = dataclasses.replace(
        config.prune, gate="hard", leak=0.0, ramp=MANY_RATES_RAMP, freeze=MANY_RATES_FREEZE
    )
    return dataclasses.replace(config, epochs=3 * config.epochs, prune=prune)


def live_config(config: RunConfig) -> RunConfig:
    """``config`` with what windows of streams want: 16 chunks, signals of motion, hardly any crops.

    On validation streams of the hands 16 chunks found more than 32 did, at half the cost (docs/live.md).

    >>> live_config(RunConfig(rate=0.98)).signal
    'motion'
    """
    signal = "motion" if config.net.kind == "gcn" else "places"
    augment = AugmentConfig(crop=0.03, warp=0.1, pace=0.0)
    return dataclasses.replace(
        config, chunks=16, signal=signal, augment=augment, optim=dataclasses.replace(config.optim, batch=150)
    )
