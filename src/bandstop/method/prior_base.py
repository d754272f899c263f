"""What every prior offers: density, quantile of the magnitude, probabilities of bins, samples, scale."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from bandstop.errors import ConfigError

__all__ = ["Prior"]


@dataclass(frozen=True)
class Prior(ABC):
    """A distribution P over latent weights, symmetric about zero unless tabulated; ``scale`` stretches it."""

    scale: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ConfigError(f"a prior's scale must be positive and finite, found {self.scale!r}")

    @abstractmethod
    def density(self, x: Tensor) -> Tensor:
        """Density at ``x``."""

    @abstractmethod
    def magnitude_cdf(self, a: Tensor) -> Tensor:
        """P(|ŵ| < a) for a ≥ 0."""

    @property
    @abstractmethod
    def std(self) -> float:
        """Standard deviation."""

    def cdf(self, x: Tensor) -> Tensor:
        """P(ŵ < x) = ½ + ½·sign(x)·P(|ŵ| < |x|)."""
        return 0.5 + 0.5 * x.sign() * self.magnitude_cdf(x.abs())

    def magnitude_icdf(self, rate: Tensor) -> Tensor:
        """The magnitude a with P(|ŵ| < a) = rate, for each rate; by bisection unless known better."""
        low, high = torch.zeros_like(rate), torch.full_like(rate, self.scale)
        for _ in range(1100):  # as often as a float64 can be doubled
            short = (self.magnitude_cdf(high) < rate) & high.isfinite()
            if not bool(short.any()):
                break
            low, high = torch.where(short, high, low), torch.where(short, high * 2, high)
        for _ in range(64):
            middle = (low + high) / 2
            below = self.magnitude_cdf(middle) < rate
            low, high = torch.where(below, middle, low), torch.where(below, high, middle)
        return high

    def magnitude_quantile(self, rate: float) -> float:
        """The threshold a that a band-stop gate needs to stop a fraction ``rate``: P(|ŵ| < a) = rate.

        >>> from bandstop.method.priors import Laplace
        >>> round(Laplace(1.0).magnitude_quantile(0.98), 4)  # −ln(1 − 0.98)
        3.912
        """
        if not 0 <= rate <= 1:
            raise ConfigError(f"a rate lies between 0 and 1, found {rate!r}")
        return float(self.magnitude_icdf(torch.tensor(rate, dtype=torch.float64)))

    def bin_probabilities(self, edges: Tensor) -> Tensor:
        """Discrete P over the bins between consecutive ``edges``, summing to one (float64).

        >>> from bandstop.method.priors import Uniform
        >>> Uniform(1.0).bin_probabilities(torch.linspace(-1, 1, 5))
        tensor([0.2500, 0.2500, 0.2500, 0.2500], dtype=torch.float64)
        """
        mass = self.cdf(edges.double()).diff().clamp_min(0)
        total = float(mass.sum())
        if not total > 0:
            span = f"[{float(edges[0]):g}, {float(edges[-1]):g}]"
            raise ConfigError(f"the bins must cover some of the prior, found no mass of {self!r} in {span}")
        return mass / total

    def sample(
        self,
        shape: Sequence[int],
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> Tensor:
        """Independent draws from the prior, reproducible through ``generator``."""
        rate = (
            torch.rand(tuple(shape), generator=generator, dtype=torch.float64, device=device).mul_(2).sub_(1)
        )
        return (self.magnitude_icdf(rate.abs()) * rate.sign()).to(dtype)

    def support(self, mass: float = 1 - 1e-4) -> float:
        """Half-width T of the symmetric range [−T, T] that holds ``mass`` of the prior."""
        return self.magnitude_quantile(mass)

    def with_scale(self, scale: float) -> Self:
        """The same family with another scale."""
        return replace(self, scale=scale)

    def with_std(self, std: float) -> Self:
        """The same family scaled to a standard deviation.

        >>> from bandstop.method.priors import Uniform
        >>> round(Uniform(1.0).with_std(1.0).limit, 4)
        1.7321
        """
        return self.with_scale(self.scale * std / self.std)
