"""Latents held to the prior, so that the prior's quantile is the budget, without a term in the loss.

Every few steps each latent of a layer goes a fraction of the way to the prior's quantile of its rank
(``bandstop.method.transport``). The prior's scale follows the layer: only the shape is held, so a layer whose
latents all grow is not held back. A rate r is then the threshold ``a = s·F⁻¹(r)`` with the layer's scale s.
Under other priors than a gaussian one, what is held here are their gaussian coordinates
(``bandstop.method.chart``).
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist

import torch
from torch import Tensor

from bandstop.engine.attach.layers import PrunedLayers
from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.engine.shards.tensor import Shards, local, reshard
from bandstop.engine.shards.transport import transport_shards_
from bandstop.method.priors import Gaussian, Prior
from bandstop.method.transport import transport_

__all__ = ["pull_one", "pull_to_prior", "quantile"]


@torch.no_grad()
def pull_to_prior(layers: PrunedLayers, prior: Prior, fraction: float) -> dict[str, Tensor]:
    """Move the latents of every layer the ``fraction`` of the way to the prior; padding rows stay zero.

    Returns the prior's scale s in each layer as it is then.
    """
    latents = layers.latents()
    shards = Shards.of(latents)
    if shards is None and all(latent.device.type == "cpu" for latent in latents.values()):
        return {layer.name: pull_one(layer, latents[layer.name], prior, fraction) for layer in layers}
    if shards is not None:
        reshard(layers.model)  # else what an evaluation left gathered would be used again
    here = {name: local(latent) for name, latent in latents.items()}
    free = {layer.name: layer.free(here[layer.name]) for layer in layers}
    scales = transport_shards_(free, shards, prior, fraction)
    for layer in layers:
        _put_back(here[layer.name], free[layer.name], layer.padding_here)
    return scales


def pull_one(layer: PrunedLayer, latent: Tensor, prior: Prior, fraction: float) -> Tensor:
    """Move ``latent``, numbers of the shape of the layer's latents, and return the prior's scale s."""
    free = layer.free(latent)
    scale = transport_(free, prior, fraction)
    _put_back(latent, free, layer.padding_here)
    return scale


def _put_back(latent: Tensor, free: Tensor, row: int | None) -> None:
    """Write to ``latent`` what was moved without its padding ``row``, where that made a copy."""
    if row is not None and 0 < row < len(latent) - 1:
        latent[:row].copy_(free[:row])
        latent[row + 1 :].copy_(free[row:])


@lru_cache(maxsize=512)
def quantile(prior: Prior, rate: float) -> float:
    """``F⁻¹(rate)`` of magnitudes.

    >>> from bandstop.method.priors import Uniform
    >>> quantile(Uniform(2.0), 0.5)
    1.0
    """
    if isinstance(prior, Gaussian) and 0 <= rate < 1:  # a tenth of the time that torch takes for one number
        return NormalDist(sigma=prior.scale).inv_cdf((1 + rate) / 2)
    return prior.magnitude_quantile(rate)  # layers ask for the same one at every step after the ramp
