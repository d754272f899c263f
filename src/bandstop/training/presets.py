"""Presets of whole runs: what `--preset NAME` starts from."""

from __future__ import annotations

import dataclasses

from bandstop.skeleton.augment import Augmentation
from bandstop.training.config import OptimConfig, PruneConfig, RunConfig

__all__ = ["held", "many_rates", "paper"]


def paper(config: RunConfig) -> RunConfig:
    """The paper's settings, literal but for its errata: λ = 10, K = 100, Adam, batch 600, learning-rate rule on the speed.

    The epochs stay as asked (the paper: 2,700), so that a short trial of the preset is possible. The paper keeps what passes
    (``--prune.count passing``); a run has the asked count exactly, at a price in this preset.
    """
    prune = PruneConfig(
        gate="logistic",
        allocation="learned",
        threshold="prior",
        ramp=0.0,
        freeze=1.0,
        kl=10.0,
        histogram="pooled",
        gain="fixed",
        live=False,
        every=1,
    )
    optim = OptimConfig(
        kind="adam", lr=1e-2, latent_lr=1e-2, weight_decay=0.0, batch=600, rule="paper-speed", warmup=0.0
    )
    net = dataclasses.replace(config.net, adjacency="free", dropout=0.0)
    augment = Augmentation(crop=0, warp=0, rotation=0, scale=0, noise=0)
    return dataclasses.replace(config, preset="paper", prune=prune, optim=optim, net=net, augment=augment)


def held(config: RunConfig) -> RunConfig:
    """The default with latents held to a gaussian prior: its quantile is the threshold (docs/prior-holds.md)."""
    prune = dataclasses.replace(config.prune, threshold="held", spacing="probability")
    return dataclasses.replace(config, preset="held", prior="gaussian", prune=prune)


def many_rates(config: RunConfig) -> RunConfig:
    """What a training for many rates at once (`--rates`) starts from: see ``bandstop.engine.multirate.pruner.many_rates_recipe``.

    It has three times the epochs: the latents learn to serve every rate, and one training stands for as many as there are budgets.
    """
    prune = dataclasses.replace(config.prune, gate="hard", leak=0.0, ramp=0.5, freeze=0.6)
    return dataclasses.replace(config, epochs=3 * config.epochs, prune=prune)
