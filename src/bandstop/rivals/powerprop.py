"""Powerpropagation: weights as powers of latents, so that large ones learn faster and small ones hardly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.rivals.gradual import Gradual, GradualSettings
from bandstop.rivals.masked import Masking
from bandstop.rivals.settings import Rule, number

__all__ = ["Powered", "Powerpropagation", "PowerpropagationSettings", "power", "root"]


@dataclass(frozen=True)
class PowerpropagationSettings(GradualSettings):
    """Schwarz et al. 2021 with iterative pruning (their "PowerProp + Iter. Pruning")."""

    allocation: Rule = "erk"
    """How layers share the budget."""
    alpha: float = number(2.0, 1.0, 10.0)
    """The power α (the paper tries 2 to 5; 1 is plain gradual pruning)."""


def power(latent: Tensor, alpha: float) -> Tensor:
    """``φ · |φ|^(α−1)``.

    >>> power(torch.tensor([-3.0, 2.0]), 2.0)
    tensor([-9.,  4.])
    """
    return latent * latent.abs().pow(alpha - 1)


def root(weight: Tensor, alpha: float) -> Tensor:
    """Its inverse, ``sign(w) · |w|^(1/α)``.

    >>> root(torch.tensor([-9.0, 4.0]), 2.0)
    tensor([-3.,  2.])
    """
    return weight.sign() * weight.abs().pow(1 / alpha)


class _RawGradient(torch.autograd.Function):
    """Forward the power, backward the gradient with respect to the weight itself."""

    @staticmethod
    def forward(ctx: Any, latent: Tensor, alpha: float) -> Tensor:
        return power(latent, alpha)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


class Powered(Masking):
    """``W = M ⊙ φ|φ|^(α−1)``; the latent's gradient is ``M ⊙ ∂L/∂W``, without the factor."""

    def __init__(self, weight: Tensor, alpha: float) -> None:
        super().__init__(weight)
        self.alpha = alpha

    def gated(self, latent: Tensor) -> Tensor:
        powered: Tensor = _RawGradient.apply(latent, self.alpha)  # type: ignore[no-untyped-call]
        return powered * self.mask


class Powerpropagation(Gradual):
    """Gradual magnitude pruning of ``W = φ|φ|^(α−1)``.

    ``∂L/∂φ = ∂L/∂W · α|φ|^(α−1)``: the rich get richer. An optimiser that normalises its gradients (Adam)
    would undo the factor, so, as the paper does, the optimiser sees ∂L/∂W and its update is multiplied
    afterwards: ``φ ← φ + Δ · α|φ|^(α−1)``. ``penalty()`` notes φ before the optimiser's step, ``step()``
    applies the factor.
    """

    settings: PowerpropagationSettings

    def make_band(self, layer: PrunedLayer) -> tuple[Masking, Tensor]:
        """The power, started so that the net's function is the given one."""
        alpha = self.settings.alpha
        return Powered(layer.latent, alpha), root(layer.latent.detach(), alpha)

    def begin(self) -> None:
        """Nothing is noted yet."""
        self.before: dict[str, Tensor] = {}

    def penalty(self) -> Tensor:
        """Nothing; notes the latents before they are moved."""
        if not self.frozen:
            self.before = {layer.name: layer.latent.detach().clone() for layer in self.layers}
        return super().penalty()

    def update(self) -> None:
        """Multiply the optimiser's update by ``α|φ|^(α−1)``, then prune if it is time."""
        for layer in self.layers:
            before = self.before.pop(layer.name, None)
            if before is not None:
                factor = self.settings.alpha * before.abs().pow(self.settings.alpha - 1)
                layer.latent.copy_(before + (layer.latent - before) * factor)
        super().update()
