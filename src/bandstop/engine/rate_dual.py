"""A dual variable on the observed rate: what makes the paper's loss meet the budget.

``KL(P‖Q)`` hardly charges for too much mass in a tail where P is small, and the budget is decided there. The
constraint "as many pass as the prior's quantile says" gets a Lagrange multiplier μ of its own:

    L = CE + λ·KL(P‖Q) + μ·D,      D = mean σ((|ŵ| − a)/(w·a))
    e = passing/asked − 1, bounded to [−1, 1],      I ← I + η·e,      μ = I + κ·e

D is the share that passes, seen smoothly around the threshold a, so that its slope reaches the latents that
are about to pass or have just passed. μ rises while too many pass, falls while too few do, and may be
negative.

The latents themselves gather what μ does to them. A μ that only gathers too (κ = 0) therefore swings: it is
still high when few enough pass. The damping κ answers the excess of the moment, as the proportional part of a
PI controller does.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

__all__ = ["RateDual"]


class RateDual:
    """μ, gathered with ``speed`` η and with ``damping`` κ; ``width`` w is that of the smooth count, in
    thresholds.

    >>> dual = RateDual(speed=2.0)
    >>> dual.step(passing=150, asked=100), dual.step(passing=90, asked=100)
    (1.0, 0.8)
    >>> damped = RateDual(speed=2.0, damping=10.0)
    >>> damped.step(passing=150, asked=100), damped.step(passing=90, asked=100)
    (6.0, -0.2)
    """

    def __init__(self, speed: float, damping: float = 0.0, width: float = 0.1) -> None:
        self.speed, self.damping, self.width = speed, damping, width
        self.value, self.gathered = 0.0, 0.0

    def step(self, passing: int, asked: int) -> float:
        """Move μ after an optimiser step in which so many passed."""
        excess = min(max(passing / max(asked, 1) - 1, -1.0), 1.0)
        self.gathered = round(self.gathered + self.speed * excess, 12)
        self.value = round(self.gathered + self.damping * excess, 12)
        return self.value

    def state(self) -> list[float]:
        """μ and what it has gathered, for checkpoints."""
        return [self.value, self.gathered]

    def load_state(self, state: list[float] | float) -> None:
        """From a checkpoint; a single number is of before there was damping."""
        self.value, self.gathered = map(float, state if isinstance(state, list) else (state, state))

    def penalty(self, latents: Mapping[str, Tensor], thresholds: Mapping[str, Tensor]) -> Tensor:
        """``μ·D`` over all layers, differentiable; add it to the loss."""
        total = sum(latent.numel() for latent in latents.values())
        parts = []
        for name, latent in latents.items():
            width = (self.width * thresholds[name]).clamp_min(torch.finfo(latent.dtype).tiny)
            parts.append(torch.sigmoid((latent.abs() - thresholds[name]) / width).sum())
        return self.value / total * torch.stack(parts).sum()
