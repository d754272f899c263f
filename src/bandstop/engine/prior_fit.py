"""How well the latents follow their prior, in numbers for a log: per layer, and quantile beside quantile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from bandstop.engine.compared import compared
from bandstop.engine.shards.tensor import Shards, local
from bandstop.engine.shards.transport import scales_to_prior
from bandstop.method.histogram.kl import kl_to_prior
from bandstop.method.priors import Prior

if TYPE_CHECKING:
    from bandstop.engine.pruner import Pruner

__all__ = ["LayerFit", "fit_of_layers", "quantiles_beside_prior"]

RANKS = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4),
    *(0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.9975, 0.999, 0.9995),
)
"""Where quantiles are compared: as dense in the tails as in the middle."""


@dataclass(frozen=True)
class LayerFit:
    """One layer beside the prior."""

    kl: float
    """KL(P‖Q) of the layer by itself."""
    scale: float
    """The prior's scale here; 1 unless it follows the layer."""


@torch.no_grad()
def fit_of_layers(pruner: Pruner) -> dict[str, LayerFit]:
    """Each layer's divergence from the prior, whether or not the loss sees it per layer."""
    recipe, shards = pruner.recipe, Shards.of(pruner.layers.latents())
    values = [layer.free(local(layer.latent.detach())) for layer in pruner.layers]
    seen, prior, bins = compared(values, recipe, pruner.bins, shards)
    total = None if shards is None else shards.sum
    found = [float(kl_to_prior([value], prior, bins, reduce=total)) for value in seen]
    rows = zip(pruner.layers, found, _scales(pruner, values, shards), strict=True)
    return {layer.name: LayerFit(float(f"{kl:.5g}"), scale) for layer, kl, scale in rows}


def _scales(pruner: Pruner, values: Sequence[Tensor], shards: Shards | None) -> list[float]:
    bands, recipe = [layer.band for layer in pruner.layers], pruner.recipe
    if charted := [band for band in bands if band is not None and band.charted]:
        return [float(band.scale) for band in charted]
    if recipe.rule != "held":
        return [1.0] * len(bands)
    return [float(scale) for scale in scales_to_prior(values, recipe.prior, shards)]


@torch.no_grad()
def quantiles_beside_prior(values: Sequence[Tensor], prior: Prior) -> dict[str, list[float]]:
    """Signed quantiles of the prior and of all latents together, in the prior's units, at ``RANKS``."""
    pool = torch.cat([value.detach().flatten().float() for value in values]).sort().values
    ranks = torch.tensor(RANKS, dtype=torch.float64)
    places = (ranks * (len(pool) - 1)).round().long().to(pool.device)
    expected, observed = prior.icdf(ranks), pool[places]
    return {"prior": _short(expected), "observed": _short(observed)}


def _short(values: Tensor) -> list[float]:
    return [float(f"{value:.5g}") for value in values.tolist()]
