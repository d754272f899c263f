"""How a given weight becomes a latent: its scale goes to the layer's gain, its shape to the prior's."""

from __future__ import annotations

import torch
from torch import Tensor

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.errors import ModelError
from bandstop.method.priors import Prior, rank_transform
from bandstop.record.prune import Start

__all__ = ["first_latent"]


def first_latent(layer: PrunedLayer, prior: Prior, start: Start) -> tuple[Tensor, Tensor]:
    """Gain ``g = rms(W) / std(prior)`` and first latent of a layer that is not attached yet.

    >>> from bandstop.engine.attach.parametrisation import prunable_layers
    >>> from bandstop.method.priors import Laplace
    >>> (layer,) = prunable_layers(torch.nn.Linear(8, 8))
    >>> gain, latent = first_latent(layer, Laplace(1.0), "scale")
    >>> torch.allclose(gain * latent, layer.latent)
    True
    """
    whole = layer.latent.detach()
    weight = layer.free(whole)
    spread = weight.square().mean().sqrt()
    if not bool(torch.isfinite(spread)):
        raise ModelError(f"layer {layer.name} holds values that are not finite, so it cannot be pruned")
    if float(spread) == 0:  # a layer that starts at zero takes the scale of its fan-in
        spread = torch.full_like(spread, (weight.shape[0] / weight.numel()) ** 0.5)
    gain = (spread / prior.std).log().exp()  # a layer stores the logarithm: the function is to stay exactly
    latent = rank_transform(weight, prior) if start == "rank" else weight / gain
    if (row := layer.padding) is not None:
        latent = torch.cat((latent[:row], torch.zeros_like(whole[:1]), latent[row:]))
    return gain, latent
