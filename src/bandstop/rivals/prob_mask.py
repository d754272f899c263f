"""ProbMask: a probability for every connection, trained under one constraint on their sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.errors import ConfigError
from bandstop.method.schedules import Ramp
from bandstop.rivals.masked import MaskedMethod, Masking
from bandstop.rivals.settings import Settings, number

__all__ = ["ProbMask", "ProbMaskSettings", "Sampled", "project"]

EPS = 1e-20


@dataclass(frozen=True)
class ProbMaskSettings(Settings):
    """Zhou et al. 2021."""

    score_lr: float = number(6e-3, 0.0)
    """Adam's learning rate of the probabilities …"""
    travel: float = number(100.0, 0.0)
    """… but in short trainings at least ``travel / steps``, so that probabilities have the time to decide."""
    begin: float = number(0.16, 0.0, 1.0)
    """Progress at which the constraint begins to tighten."""
    end: float = number(0.60, 0.0, 1.0)
    """Progress at which it is the budget."""
    coldest: float = number(0.03, 1e-4, 1.0)
    """Temperature at the end: ``τ = (1 − coldest)·(1 − progress) + coldest``."""
    freeze: float = number(0.94, 0.0, 1.0)
    """Progress at which the mask is fixed and fine-tuned (20 of 320 epochs in the paper)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.begin >= self.end:
            raise ConfigError(f"begin must come before end, found begin {self.begin} and end {self.end}")


def project(values: Sequence[Tensor], total: float) -> list[Tensor]:
    """The nearest point of ``{s ∈ [0, 1]^n : Σ s ≤ total}``: ``clamp(z − v, 0, 1)``, v ≥ 0 by bisection.

    >>> [s.tolist() for s in project([torch.tensor([0.9, 0.5]), torch.tensor([1.4])], 2.0)]
    [[0.699999988079071, 0.30000001192092896], [1.0]]
    """
    flat = torch.cat([value.flatten() for value in values]).double()
    low, high = 0.0, float(flat.max())
    if float(flat.clamp(0, 1).sum()) <= total:
        high = 0.0
    for _ in range(60 if high > 0 else 0):
        middle = (low + high) / 2
        if float((flat - middle).clamp(0, 1).sum()) > total:
            low = middle
        else:
            high = middle
    return [(value.double() - high).clamp(0, 1).to(value.dtype) for value in values]


class Sampled(Masking):
    """``W = θ ⊙ σ((logit s + noise)/τ)``, noise the difference of two Gumbel variables."""

    noise: Tensor

    def __init__(self, weight: Tensor) -> None:
        super().__init__(weight)
        self.score = nn.Parameter(torch.ones_like(weight))
        self.temperature = 1.0
        self.register_buffer("noise", torch.zeros_like(weight), persistent=False)

    def gated(self, latent: Tensor) -> Tensor:
        odds = (self.score + EPS).log() - (1 - self.score + EPS).log()
        return latent * torch.sigmoid((odds + self.noise) / self.temperature)


class ProbMask(MaskedMethod[ProbMaskSettings]):
    """Weights and keep-probabilities s trained through sampled masks, s projected onto ``Σ s ≤ K_t``.

    K_t falls from all weights to the budget by the cubic law; one sample a step. The mask at ``freeze`` is
    of the K largest probabilities, so the budget is exact.
    """

    def make_band(self, layer: PrunedLayer) -> tuple[Masking, Tensor]:
        """A sampled mask that starts open."""
        return Sampled(layer.latent.detach()), layer.latent.detach()

    def added_lr(self, lr: float) -> float:
        """Of the probabilities."""
        return max(self.settings.score_lr, self.settings.travel / self.steps)

    def begin(self) -> None:
        """The first noise."""
        self._draw()

    def _draw(self) -> None:
        """Noise for the next step; checkpoints hold the state before, so that it can be drawn again."""
        self._drawn_from = self.generator.get_state()
        coldest = self.settings.coldest
        for layer in self.layers:
            band = self.band(layer)
            uniform = (
                torch.rand((2, *layer.latent.shape), generator=self.generator)
                .to(layer.latent)
                .clamp(EPS, 1 - 1e-7)
            )
            gumbel = -torch.log(-torch.log(uniform))
            band.noise = gumbel[0] - gumbel[1]
            band.temperature = (1 - coldest) * (1 - self.progress) + coldest

    @property
    def allowed(self) -> float:
        """K_t."""
        ramp = Ramp(0.0, 1.0, begin=self.settings.begin, end=self.settings.end)
        return float(self.remaining(ramp(self.progress)))

    def update(self) -> None:
        """Project the probabilities and draw again; fix the mask at ``freeze``."""
        scores = [self.band(layer).score for layer in self.layers]
        for score, projected in zip(scores, project([s.detach() for s in scores], self.allowed), strict=True):
            score.copy_(projected)
        if self.settings.freeze < 1 and self.progress >= self.settings.freeze:
            self.freeze(self.final_masks())
        else:
            self._draw()

    def final_masks(self) -> dict[str, Tensor]:
        """The most probable connections; among equals the larger weight."""
        scores = {}
        for layer in self.layers:
            size = layer.latent.detach().abs()
            # Ranks that weigh less than 1e-4 of a probability break ties, of which s = 1 makes many.
            tie = size.flatten().argsort().argsort().reshape(size.shape).double() / size.numel()
            scores[layer.name] = self.band(layer).score.detach().double() * 1e3 + tie * 1e-1
        return self.select(scores)

    @torch.no_grad()
    def freeze(self, masks: Mapping[str, Tensor]) -> None:
        """Fix the masks; kept weights as they are, without the last sample's factor."""
        for layer in self.layers:
            band = self.band(layer)
            band.mask.copy_(masks[layer.name])
            layer.latent.mul_(band.mask)
        self._mark_frozen(True)

    @property
    def kept(self) -> int:
        """Connections to expect at present: ``Σ s``."""
        if self.frozen:
            return super().kept
        return round(float(sum(self.band(layer).score.detach().sum() for layer in self.layers)))

    def state_dict(self) -> dict[str, Any]:
        """With the generator as it was before the noise in use was drawn."""
        return {**super().state_dict(), "generator": self._drawn_from}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Draw the noise in use again."""
        super().load_state_dict(state)
        with torch.no_grad():
            self._draw()
