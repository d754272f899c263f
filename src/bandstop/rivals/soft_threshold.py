"""STR: soft thresholds that are learned, one per layer, and how they are brought to a budget."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.engine.select.topk import threshold_for
from bandstop.method.schedules import Ramp
from bandstop.rivals.masked import MaskedMethod, Masking
from bandstop.rivals.settings import Settings, number

__all__ = ["SoftThreshold", "SoftThresholdSettings", "Thresholded"]

LOWEST = -50.0  # exp of it is a float32 with room to spare


@dataclass(frozen=True)
class SoftThresholdSettings(Settings):
    """Kusupati et al. 2020; their weight decay of s is solved for (see the class)."""

    start: float = number(-10.0, LOWEST, 0.0)
    """First s of every layer: a threshold of next to nothing."""
    begin: float = number(0.0, 0.0, 1.0)
    """Progress at which sparsity begins to rise."""
    end: float = number(0.7, 0.0, 1.0)
    """Progress at which the budget is reached."""
    freeze: float = number(1.0, 0.0, 1.0)
    """Progress at which the mask is fixed; 1 for never, as published."""


class Thresholded(Masking):
    """``W = sign(θ) · relu(|θ| − e^s)``, s learned."""

    def __init__(self, weight: Tensor, start: float) -> None:
        super().__init__(weight)
        self.s = nn.Parameter(torch.full((), start, dtype=weight.dtype, device=weight.device))

    def gated(self, latent: Tensor) -> Tensor:
        return latent.sign() * torch.relu(latent.abs() - self.s.exp())


class SoftThreshold(MaskedMethod[SoftThresholdSettings]):
    """Thresholds ``α_l = e^{s_l}`` learned with the weights; sparsity is what they come to.

    STR has no budget to ask for: the weight decay of s pushes all thresholds up, and its strength λ, found
    by trial, decides where sparsity ends. Here the push of each step, a common shift ``s_l ← s_l + δ``, is
    solved for instead: ``e^δ`` is the quantile of ``|θ|/α_l`` over all layers that leaves as many weights
    as a cubic ramp allows. So the budget holds at every step from ``end`` on, and only the gradient decides
    how thresholds differ between layers. ``e^s`` (the paper's choice for recurrent nets) differs from its
    sigmoid by a relative α and has no upper bound.
    """

    def make_band(self, layer: PrunedLayer) -> tuple[Masking, Tensor]:
        """A soft threshold."""
        return Thresholded(layer.latent, self.settings.start), layer.latent.detach()

    def ratios(self) -> dict[str, Tensor]:
        """``|θ| / α_l``: above 1 passes."""
        return {layer.name: layer.latent.detach().abs() / self.band(layer).s.exp() for layer in self.layers}

    def begin(self) -> None:
        """Thresholds start alike, below all that matters."""
        self._note_kept()

    def _note_kept(self) -> None:
        for layer in self.layers:
            band = self.band(layer)
            band.mask.copy_(layer.latent.abs() > band.s.exp())

    def update(self) -> None:
        """Shift all thresholds to the ramp's quantile; fix the mask at ``freeze``."""
        if self.settings.freeze < 1 and self.progress >= self.settings.freeze:
            self.freeze(self.final_masks())
            return
        ratios = torch.cat([ratio.flatten() for ratio in self.ratios().values()])
        ramp = Ramp(0.0, 1.0, begin=self.settings.begin, end=self.settings.end)
        remaining = self.remaining(ramp(self.progress))
        if remaining < len(ratios):
            # Halfway between the last that passes and the first that does not: rounding decides nothing.
            edges = torch.stack([threshold_for(ratios, remaining), threshold_for(ratios, remaining - 1)])
            shift = edges.clamp(min=1e-30).log().mean()
            for layer in self.layers:
                self.band(layer).s.add_(shift).clamp_(min=LOWEST)
        self._note_kept()

    def final_masks(self) -> dict[str, Tensor]:
        """The largest ``|θ| / α_l`` of all layers: those that pass, and ties by what is next."""
        return self.select(self.ratios())

    def snapshot(self) -> dict[str, object]:
        """The learned thresholds."""
        return {
            "layers": {
                layer.name: {"threshold": float(self.band(layer).s.detach().exp()), "gain": None}
                for layer in self.layers
            }
        }
