"""A dual variable on the observed rate: what makes the paper's loss meet the budget.

``KL(P‖Q)`` hardly charges for too much mass in a tail where P is small, and the budget is decided there. The
constraint "as many pass as the prior's quantile says" gets a Lagrange multiplier μ of its own:

    L = CE + λ·KL(P‖Q) + μ·D,      D = mean σ((|ŵ| − a)/(w·a))
    μ ← μ + η·(passing/asked − 1), the bracket bounded to [−1, 1]

D is the share that passes, seen smoothly around the threshold a, so that its slope reaches the latents that
are about to pass or have just passed. μ rises while too many pass, falls while too few do, and may be
negative.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

__all__ = ["RateDual"]


class RateDual:
    """μ, moved by ``speed`` η; ``width`` w is that of the smooth count, in thresholds.

    >>> dual = RateDual(speed=2.0)
    >>> dual.step(passing=150, asked=100), dual.step(passing=90, asked=100)
    (1.0, 0.8)
    """

    def __init__(self, speed: float, width: float = 0.1) -> None:
        self.speed, self.width, self.value = speed, width, 0.0

    def step(self, passing: int, asked: int) -> float:
        """Move μ after an optimiser step in which so many passed."""
        excess = min(max(passing / max(asked, 1) - 1, -1.0), 1.0)
        self.value = round(self.value + self.speed * excess, 12)
        return self.value

    def penalty(self, latents: Mapping[str, Tensor], thresholds: Mapping[str, Tensor]) -> Tensor:
        """``μ·D`` over all layers, differentiable; add it to the loss."""
        total = sum(latent.numel() for latent in latents.values())
        parts = []
        for name, latent in latents.items():
            width = (self.width * thresholds[name]).clamp_min(torch.finfo(latent.dtype).tiny)
            parts.append(torch.sigmoid((latent.abs() - thresholds[name]) / width).sum())
        return self.value / total * torch.stack(parts).sum()
