"""What the settings of a run start from: the default's, the paper's, or those for many rates."""

from __future__ import annotations

from dataclasses import replace

from bandstop.record.augment import AugmentConfig
from bandstop.record.prune import (
    PAPER,
    PAPER_KL,
    SWEEP_EPOCHS,
    SWEEP_LR,
)
from bandstop.training.config import OptimConfig, PruneConfig, RunConfig

__all__ = [
    "LITERAL_EPOCHS",
    "PAPER_EPOCHS",
    "empirical",
    "held",
    "live_config",
    "many_rates",
    "paper",
    "paper_literal",
    "starting_config",
]

LITERAL_EPOCHS = 2700
"""Length of training in the paper."""
PAPER_EPOCHS = 600
"""Length of training that reaches the paper's figures."""


def starting_config(preset: str | None, *, rates: bool = False) -> RunConfig:
    """The settings that flags or a plan then change: the same through `bandstop train` and `bandstop study`.

    ``rates``: whether the training is for many rates.

    >>> starting_config("paper").epochs, starting_config(None, rates=True).epochs
    (600, 1060)
    >>> starting_config(None).prune.rule, starting_config("empirical").prune.rule
    ('held', 'empirical')
    """
    if preset == "paper":
        return paper(RunConfig(epochs=PAPER_EPOCHS))
    if preset == "paper-literal":
        return paper_literal(RunConfig(epochs=LITERAL_EPOCHS))
    config = RunConfig()
    if preset in ("held", "empirical"):
        config = held(config) if preset == "held" else empirical(config)
    return many_rates(config) if rates else config


def paper_literal(config: RunConfig) -> RunConfig:
    """What the paper prints and nothing else, but for its errata: λ = 10, K = 100, Adam, batch 600.

    The epochs stay as asked, so that a short trial of the preset is possible. The paper keeps what passes
    (``--prune.count passing``); a run has the asked count exactly, at a price in this preset.
    """
    shared = {**vars(PAPER), "live": False}
    prune = PruneConfig(**shared, gate="logistic", ramp=0.0, kl=PAPER_KL)
    optim = OptimConfig(
        kind="adam", lr=1e-2, latent_lr=1e-2, weight_decay=0.0, batch=600, rule="paper-speed", warmup=0.0
    )
    net = replace(config.net, kind="gcn", adjacency="free", dropout=0.0)
    augment = AugmentConfig(crop=0, warp=0, rotation=0, scale=0, noise=0)
    return replace(config, preset="paper-literal", prune=prune, optim=optim, net=net, augment=augment)


def paper(config: RunConfig) -> RunConfig:
    """What the paper prints, and what it leaves open chosen so that its Table 2 comes out.

    What each choice is needed for is in docs/prior-holds.md. What passes the prior's quantile stays; nothing
    is counted.

    >>> paper(RunConfig()).prune.kl == paper_literal(RunConfig()).prune.kl, paper(RunConfig()).prune.count
    (True, 'passing')
    """
    printed = paper_literal(config)
    prune = replace(
        printed.prune,
        count="passing",
        prior_std=0.3,
        dual=1.0,
        dual_damping=200.0,
        cool_from=0.3,
        cool_until=0.6,
        freeze=0.8,
    )
    return replace(
        printed,
        preset="paper",
        prune=prune,
        optim=replace(printed.optim, average=0.97),
        net=replace(printed.net, adjacency="skeleton", dropout=0.3),
        augment=AugmentConfig(crop=0.12, warp=0.25, rotation=0.3, scale=0.15, noise=0.02),
    )


def held(config: RunConfig) -> RunConfig:
    """What the default is, by name: latents held to the prior, whose quantile is the threshold.

    See docs/prior-holds.md.

    >>> held(RunConfig()).resolved().prune == RunConfig().resolved().prune
    True
    """
    prune = replace(config.prune, threshold="held", spacing="probability")
    return replace(config, preset="held", prune=prune)


def empirical(config: RunConfig) -> RunConfig:
    """The default of before: latents are free, and each layer's threshold is looked for among them.

    >>> empirical(RunConfig()).prune.threshold
    'empirical'
    """
    prune = replace(config.prune, threshold="empirical", spacing="width")
    return replace(config, preset="empirical", prune=prune)


def many_rates(config: RunConfig) -> RunConfig:
    """The settings of a training for many rates: see ``bandstop.engine.multirate``.

    The rate sweeps over the range while averages of the weights are kept, at a learning rate that does not
    fall. It has less than three times the epochs of a training for one rate.

    >>> many_rates(RunConfig(epochs=100)).epochs, many_rates(RunConfig()).optim.rule
    (265, 'constant')
    """
    optim = config.optim
    steady = replace(
        optim, rule="constant", lr=SWEEP_LR * optim.lr, latent_lr=SWEEP_LR * optim.latent_lr, warmup=0.0
    )
    return replace(config, epochs=round(SWEEP_EPOCHS * config.epochs), optim=steady)


def live_config(config: RunConfig) -> RunConfig:
    """``config`` with what windows of streams want: the GCN on motion, 16 chunks, hardly any crops.

    A window is looked at several times a second, and the GCN multiplies less often than convolutions over
    time. On validation streams of the hands 16 chunks found more than 32 did, at half the cost
    (docs/live.md).

    >>> live_config(RunConfig(rate=0.98)).signal
    'motion'
    """
    return replace(
        config,
        chunks=16,
        signal="motion",
        net=replace(config.net, kind="gcn"),
        augment=AugmentConfig(crop=0.03, warp=0.1, pace=0.0),
        optim=replace(config.optim, batch=150),
    )
