"""Latents held to the prior, so that the prior's quantile is the budget, without a term in the loss.

Every few steps each latent of a layer goes a fraction of the way to the prior's quantile of its rank
(``bandstop.method.transport``). The prior's scale follows the layer: only the shape is held, so a layer whose
latents all grow is not held back. A rate r is then the threshold ``a = s·F⁻¹(r)`` with the layer's scale s.
Under other priors than a gaussian one, what is held here are their gaussian coordinates
(``bandstop.method.chart``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.engine.shards.tensor import is_sharded
from bandstop.errors import ConfigError
from bandstop.method.priors import Prior
from bandstop.method.transport import scale_to_prior, transported

__all__ = ["held_thresholds", "pull_to_prior"]


@torch.no_grad()
def pull_to_prior(layers: Sequence[PrunedLayer], prior: Prior, fraction: float) -> None:
    """Move the latents of every layer the ``fraction`` of the way to the prior; padding rows stay zero."""
    for layer in layers:
        latent = layer.latent.detach()
        if is_sharded(latent):
            raise ConfigError(
                "latents cannot be held to the prior where weights are sharded: build the pruner with "
                "another threshold, or train with DistributedDataParallel"
            )
        moved, row = transported(layer.free(latent), prior, fraction), layer.padding
        if row is None:
            latent.copy_(moved)
        else:
            latent[:row].copy_(moved[:row])
            latent[row + 1 :].copy_(moved[row:])


def held_thresholds(
    latents: Mapping[str, Tensor], counts: Mapping[str, int], prior: Prior
) -> dict[str, Tensor]:
    """``a = s·F⁻¹(1 − k/n)`` of layers that are to let k of n connections pass.

    >>> from bandstop.method.priors import Uniform
    >>> held_thresholds({"a": torch.tensor([-0.2, 0.6, 1.0, -1.4])}, {"a": 1}, Uniform(1.0))["a"]
    tensor(1.2000)
    """
    return {
        name: scale_to_prior(latent, prior).mul_(prior.magnitude_quantile(1 - counts[name] / latent.numel()))
        for name, latent in latents.items()
    }
