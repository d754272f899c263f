"""AC/DC: compressed and decompressed training by turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bandstop.errors import ConfigError
from bandstop.rivals.masked import MaskedMethod
from bandstop.rivals.settings import Rule, Settings, number

__all__ = ["AcDc", "AcDcSettings"]


@dataclass(frozen=True)
class AcDcSettings(Settings):
    """Peste et al. 2021 on ImageNet, per cent of training: dense to 10, 5 and 5 by turns, dense 75 to 85."""

    allocation: Rule = "learned"
    """Global magnitudes, as published."""
    warmup: float = number(0.10, 0.0, 1.0)
    """Progress at which the first compressed phase begins."""
    phase: float = number(0.05, 1e-6, 1.0)
    """Length of a phase."""
    last_dense: float = number(0.75, 0.0, 1.0)
    """Progress at which the last decompressed phase begins."""
    final: float = number(0.85, 0.0, 1.0)
    """Progress at which the last compressed phase begins, which lasts to the end."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.warmup <= self.last_dense <= self.final:
            raise ConfigError(
                f"warmup, last_dense and final must follow each other, found {self.warmup}, "
                f"{self.last_dense}, {self.final}"
            )

    def compressed(self, progress: float) -> bool:
        """Whether a moment of training belongs to a compressed phase.

        >>> [AcDcSettings().compressed(p) for p in (0.05, 0.12, 0.17, 0.22, 0.8, 0.9)]
        [False, True, False, True, False, True]
        """
        if progress >= self.final:
            return True
        if not self.warmup <= progress < self.last_dense:
            return False
        return int((progress - self.warmup) / self.phase + 1e-9) % 2 == 0


class AcDc(MaskedMethod[AcDcSettings]):
    """Iterative hard thresholding: a compressed phase keeps the largest ``|w|`` of the whole net.

    What a compressed phase dropped starts again from zero, with its momentum reset.
    """

    def begin(self) -> None:
        """Dense at first."""
        self.sparse = False

    def update(self) -> None:
        """Change phase, if it is time."""
        wanted = self.settings.compressed(self.progress)
        if self.progress >= self.settings.final:
            self.freeze(self.final_masks())
        elif wanted and not self.sparse:
            self.impose(self.select(self.magnitudes()))
        elif self.sparse and not wanted:
            for layer in self.layers:
                band = self.band(layer)
                dropped = ~band.mask
                layer.latent.masked_fill_(dropped, 0.0)
                self.forget_momentum(layer, dropped)
                band.mask.fill_(True)
        self.sparse = wanted

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue; the phase follows from the progress."""
        super().load_state_dict(state)
        self.sparse = self.taken > 0 and self.settings.compressed(self.progress)
