"""Adaptive sparsity loss: learned thresholds and a budget loss that assumes gaussian weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.rivals.masked import MaskedMethod, Masking
from bandstop.rivals.settings import Settings, number

__all__ = ["AdaptiveSparsity", "AdaptiveSparsitySettings", "GaussianCut", "assumed_rate"]

SOFTEST, HARDEST, TINY = 0.0, 5.0, 1e-6


@dataclass(frozen=True)
class AdaptiveSparsitySettings(Settings):
    """Retsinas et al. 2020 and their code."""

    weight: float = number(100.0, 0.0)
    """λ of the budget loss (theirs, 10, at rates to 90 %: the square of a small density's error needs
    more).
    """
    first: float = number(0.6, 0.0, 1.0)
    """Thresholds start at this share of the asked rate."""
    threshold_lr: float = number(5e-2, 0.0)
    """Learning rate of the thresholds under Adam (theirs, for SGD with momentum, is 1e-3)."""
    centre: bool = True
    """Keep each layer's mean at zero, as the gaussian assumption asks."""
    freeze: float = number(0.5, 0.0, 1.0)
    """Progress at which the mask is fixed at exactly the budget."""


def assumed_rate(r: Tensor) -> Tensor:
    """Share of gaussian weights below r deviations: ``erf(r/√2)``.

    >>> assumed_rate(torch.tensor(1.96))
    tensor(0.9500)
    """
    return torch.erf(r / math.sqrt(2))


class _Shrink(torch.autograd.Function):
    """Zero below 1, itself above; the gradient goes straight through."""

    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        return torch.where(values.abs() > 1, values, 0.0)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient


class GaussianCut(Masking):
    """``W = b·h(θ/b)``, ``b = r·std(θ)``, r learned, h a hard threshold at 1, straight-through.

    All weights feel ``∂L/∂W``; r feels ``−std·Σ (θ/b)·∂L/∂W`` over the dropped ones: what they would give
    if they were back.
    """

    def __init__(self, weight: Tensor, first: float) -> None:
        super().__init__(weight)
        self.r = nn.Parameter(torch.full((), first, dtype=weight.dtype, device=weight.device))

    def cut(self, latent: Tensor) -> Tensor:
        """The threshold b."""
        return self.r.clamp(SOFTEST, HARDEST) * latent.detach().std() + TINY

    def gated(self, latent: Tensor) -> Tensor:
        cut = self.cut(latent)
        shrunk: Tensor = _Shrink.apply(latent / cut)  # type: ignore[no-untyped-call]
        return cut * shrunk


class AdaptiveSparsity(MaskedMethod[AdaptiveSparsitySettings]):
    """``L + λ·(Σ_l n_l·(1 − erf(r_l/√2))/Σ_l n_l − density)²``: a loss on the assumed density.

    The assumption is never enforced, so the rate that results is near the asked one and not it; at
    ``freeze`` exactly the budget is taken by ``|θ|/b_l``, the order in which the learned thresholds would
    let weights pass.
    """

    def make_band(self, layer: PrunedLayer) -> tuple[Masking, Tensor]:
        """A learned cut."""
        asked = self.settings.first * (1 - self.density)
        first = float(torch.erfinv(torch.tensor(asked)) * math.sqrt(2))
        return GaussianCut(layer.latent.detach(), first), layer.latent.detach()

    @property
    def density(self) -> float:
        """Share of the weights that the budget keeps (for MACs: as large magnitudes would share them now)."""
        return self.remaining(1.0) / self.bound.prunable

    def begin(self) -> None:
        """Note the asked density; centre the weights."""
        self.asked = self.density
        self._centre()

    def _centre(self) -> None:
        for layer in self.layers:
            if self.settings.centre:
                layer.latent.sub_(layer.latent.mean())
            band = self.band(layer)
            band.mask.copy_(layer.latent.abs() > band.cut(layer.latent))

    def added_lr(self, lr: float) -> float:
        """Of the thresholds."""
        return self.settings.threshold_lr

    def estimated_density(self) -> Tensor:
        """``Σ n_l·(1 − erf(r_l/√2)) / Σ n_l``."""
        kept = [layer.latent.numel() * (1 - assumed_rate(self.band(layer).r)) for layer in self.layers]
        return torch.stack(kept).sum() / self.bound.prunable

    def penalty(self) -> Tensor:
        """The budget loss, until the mask is fixed."""
        if self.frozen:
            return super().penalty()
        return self.settings.weight * (self.estimated_density() - self.asked).square()

    def update(self) -> None:
        """Centre the weights; fix the mask at ``freeze``."""
        if self.settings.freeze < 1 and self.progress >= self.settings.freeze:
            self.freeze(self.final_masks())
        else:
            self._centre()

    def final_masks(self) -> dict[str, Tensor]:
        """The largest ``|θ|/b_l`` of all layers."""
        ratios = {}
        for layer in self.layers:
            ratios[layer.name] = layer.latent.detach().abs() / self.band(layer).cut(layer.latent).detach()
        return self.select(ratios)

    @torch.no_grad()
    def snapshot(self) -> dict[str, Any]:
        """The learned thresholds, and the rate that they are assumed to give."""
        rows = {
            layer.name: {"threshold": float(self.band(layer).cut(layer.latent)), "gain": None}
            for layer in self.layers
        }
        return {"layers": rows, "assumed_rate": 1 - float(self.estimated_density())}
