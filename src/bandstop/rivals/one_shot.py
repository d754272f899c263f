"""Magnitude pruning as it began: train dense, cut the smallest weights once, retrain what is left."""

from __future__ import annotations

from dataclasses import dataclass

from bandstop.rivals.masked import MaskedMethod
from bandstop.rivals.settings import Rule, Settings, number

__all__ = ["OneShot", "OneShotSettings"]


@dataclass(frozen=True)
class OneShotSettings(Settings):
    """Han et al. 2015; the learning rate of the retraining as Renda et al. 2020."""

    allocation: Rule = "learned"
    """Global magnitudes ("learned": one pooled threshold) or LAMP scores ("lamp", Lee et al. 2021)."""
    dense: float = number(0.5, 0.0, 1.0)
    """Share of the training that the dense net gets."""
    restart: bool = True
    """Retraining starts the learning-rate schedule again (rewinding), or goes on with the rest of it."""


class OneShot(MaskedMethod[OneShotSettings]):
    """Dense for ``dense`` of the steps; then the K best ``|w|`` (or LAMP scores) are retrained."""

    @property
    def cut(self) -> int:
        """The step after which the weights are cut."""
        return min(max(round(self.settings.dense * self.steps), 1), self.steps)

    def update(self) -> None:
        """Cut once."""
        if self.taken >= self.cut:
            self.freeze(self.final_masks())

    def lr_progress(self, progress: float) -> float:
        """Each stage runs through the whole schedule: ``p/d`` to the cut at d, then ``(p − d)/(1 − d)``."""
        cut = self.cut / self.steps
        if not self.settings.restart or cut >= 1:
            return progress
        # Half a step of tolerance: the last dense step must not fall to the other side by rounding.
        within = progress <= cut + 0.5 / self.steps
        return min(progress / cut, 1.0) if within else (progress - cut) / (1 - cut)
