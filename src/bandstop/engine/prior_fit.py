"""How well the latents follow their prior, in numbers for a log: per layer, and quantile beside quantile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from bandstop.engine.attach.charted import ChartedBandStop
from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.engine.compared import compared
from bandstop.engine.recipe import Recipe
from bandstop.method.histogram.kl import kl_to_prior
from bandstop.method.priors import Prior
from bandstop.method.transport import scale_to_prior

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
    recipe, values = pruner.recipe, [layer.free(layer.latent.detach()) for layer in pruner.layers]
    seen, prior, bins = compared(values, recipe, pruner.bins)
    found = [float(kl_to_prior([value], prior, bins)) for value in seen]
    scales = [_scale(layer, recipe, v) for layer, v in zip(pruner.layers, values, strict=True)]
    rows = zip(pruner.layers, found, scales, strict=True)
    return {layer.name: LayerFit(float(f"{kl:.5g}"), scale) for layer, kl, scale in rows}


def _scale(layer: PrunedLayer, recipe: Recipe, values: Tensor) -> float:
    if isinstance(layer.band, ChartedBandStop):
        return float(layer.band.scale)
    return float(scale_to_prior(values, recipe.prior)) if recipe.threshold == "held" else 1.0


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
