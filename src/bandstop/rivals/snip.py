"""SNIP: prune once before training, by the sensitivity of the loss to each connection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from bandstop.errors import ConfigError
from bandstop.rivals.masked import MaskedMethod
from bandstop.rivals.settings import Settings

__all__ = ["Snip", "SnipSettings"]


@dataclass(frozen=True)
class SnipSettings(Settings):
    """Lee et al. 2019: one batch, all layers in one ranking."""


class Snip(MaskedMethod[SnipSettings]):
    """Saliency ``|w · ∂L/∂w|`` on the first batch; the K largest of the whole net are kept."""

    def prepare(self, loss_fn: Callable[[], Tensor]) -> None:
        """Call once before training; ``loss_fn()`` is the loss of one batch, with its graph."""
        if self.frozen:
            return
        buffers = {name: buffer.clone() for name, buffer in self.net.named_buffers()}
        latents = [layer.latent for layer in self.layers]
        gradients = torch.autograd.grad(loss_fn(), latents, allow_unused=True)
        with torch.no_grad():
            for name, buffer in self.net.named_buffers():
                buffer.copy_(buffers[name])  # a look at the data must not move batch statistics
            scores = {
                layer.name: torch.zeros_like(layer.latent) if g is None else (g * layer.latent).abs()
                for layer, g in zip(self.layers, gradients, strict=True)
            }
            self.freeze(self.select(scores))

    def update(self) -> None:
        """Without saliencies there is nothing to go by."""
        raise ConfigError(
            "snip prunes before training by the loss of one batch: call prepare(loss_fn) before the first "
            "step"
        )

    def final_masks(self) -> dict[str, Tensor]:
        """As for a step."""
        self.update()
        return {}
