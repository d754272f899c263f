"""Zero-mean distributions to draw latent weights towards; their quantiles turn a rate into a threshold.

A new symmetric prior is a class of a few lines: ``density``, ``magnitude_cdf`` and ``std``; the rest follows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor

from bandstop.errors import ConfigError

__all__ = [
    "PRIORS",
    "Gaussian",
    "Laplace",
    "Prior",
    "StudentT",
    "Uniform",
    "prior",
    "prior_magnitudes",
    "rank_transform",
]


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

    def icdf(self, rank: Tensor) -> Tensor:
        """The signed quantile x with P(ŵ < x) = rank, for each rank."""
        centred = 2 * rank - 1
        return self.magnitude_icdf(centred.abs()) * centred.sign()

    def magnitude_quantile(self, rate: float) -> float:
        """The threshold a that a band-stop gate needs to stop a fraction ``rate``: P(|ŵ| < a) = rate.

        >>> round(Laplace(1.0).magnitude_quantile(0.98), 4)  # −ln(1 − 0.98)
        3.912
        """
        if not 0 <= rate <= 1:
            raise ConfigError(f"a rate lies between 0 and 1, found {rate!r}")
        return float(self.magnitude_icdf(torch.tensor(rate, dtype=torch.float64)))

    def bin_probabilities(self, edges: Tensor) -> Tensor:
        """Discrete P over the bins between consecutive ``edges``, summing to one (float64).

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

        >>> round(Uniform(1.0).with_std(1.0).limit, 4)
        1.7321
        """
        return self.with_scale(self.scale * std / self.std)


@dataclass(frozen=True)
class Uniform(Prior):
    """Uniform on [−T, T], with T the scale: a = r·T."""

    @property
    def limit(self) -> float:
        """T."""
        return self.scale

    @property
    def std(self) -> float:
        return self.scale / math.sqrt(3)

    def density(self, x: Tensor) -> Tensor:
        return (x.abs() <= self.scale).to(x.dtype) / (2 * self.scale)

    def magnitude_cdf(self, a: Tensor) -> Tensor:
        return (a / self.scale).clamp(0, 1)

    def magnitude_icdf(self, rate: Tensor) -> Tensor:
        return rate * self.scale

    def support(self, mass: float = 1.0) -> float:
        return self.scale


@dataclass(frozen=True)
class Gaussian(Prior):
    """exp(−x²/2s²)/(s√2π): a = s√2·erf⁻¹(r)."""

    @property
    def std(self) -> float:
        return self.scale

    def density(self, x: Tensor) -> Tensor:
        return torch.exp(-0.5 * (x / self.scale) ** 2) / (self.scale * math.sqrt(2 * math.pi))

    def magnitude_cdf(self, a: Tensor) -> Tensor:
        return torch.erf(a / (self.scale * math.sqrt(2)))

    def magnitude_icdf(self, rate: Tensor) -> Tensor:
        return torch.erfinv(rate) * (self.scale * math.sqrt(2))


@dataclass(frozen=True)
class Laplace(Prior):
    """exp(−|x|/b)/2b: a = −b·ln(1 − r)."""

    @property
    def std(self) -> float:
        return self.scale * math.sqrt(2)

    def density(self, x: Tensor) -> Tensor:
        return torch.exp(-x.abs() / self.scale) / (2 * self.scale)

    def magnitude_cdf(self, a: Tensor) -> Tensor:
        return -torch.expm1(-a / self.scale)

    def magnitude_icdf(self, rate: Tensor) -> Tensor:
        return -self.scale * torch.log1p(-rate)


@dataclass(frozen=True)
class StudentT(Prior):
    """Student's t, ∝ (1 + x²/νs²)^(−(ν+1)/2), heavier-tailed than laplace; ν = ``dof`` is a whole number.

    With θ = arctan(a/s√ν), P(|ŵ| < a) is a finite sum in sin θ and cos θ (Abramowitz & Stegun 26.7.3–4).

    >>> round(StudentT(1.0, dof=1).magnitude_quantile(0.5), 6)  # cauchy: tan(π/4)
    1.0
    """

    dof: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.dof, int) and self.dof >= 1):
            raise ConfigError(f"the degrees of freedom must be a whole number from 1 up, found {self.dof!r}")

    @property
    def std(self) -> float:
        return self.scale * math.sqrt(self.dof / (self.dof - 2)) if self.dof > 2 else math.inf

    def density(self, x: Tensor) -> Tensor:
        half = (self.dof + 1) / 2
        constant = math.exp(math.lgamma(half) - math.lgamma(self.dof / 2)) / math.sqrt(self.dof * math.pi)
        return constant / self.scale * (1 + (x / self.scale) ** 2 / self.dof) ** -half

    def magnitude_cdf(self, a: Tensor) -> Tensor:
        angle = torch.atan(a / (self.scale * math.sqrt(self.dof)))
        sine, squared_cosine = angle.sin(), angle.cos() ** 2
        odd = self.dof % 2 == 1
        term = angle.cos() if odd else torch.ones_like(angle)
        total = torch.zeros_like(angle)
        for i in range(2 + odd, self.dof + 1, 2):
            total, term = total + term, term * squared_cosine * (i - 1) / i
        return 2 / math.pi * (angle + sine * total) if odd else sine * total

    def sample(
        self,
        shape: Sequence[int],
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> Tensor:
        def normal() -> Tensor:
            return torch.randn(tuple(shape), generator=generator, dtype=torch.float64, device=device)

        numerator, squares = normal(), normal().square_()
        for _ in range(self.dof - 1):
            squares += normal().square_()
        return (numerator * self.scale / (squares / self.dof).sqrt_()).to(dtype)

    def with_std(self, std: float) -> Self:
        if self.dof <= 2:
            raise ConfigError(
                f"a student prior has a standard deviation from dof = 3 up, found dof = {self.dof}"
            )
        return super().with_std(std)


PRIORS: dict[str, type[Prior]] = {
    "uniform": Uniform,
    "gaussian": Gaussian,
    "laplace": Laplace,
    "student": StudentT,
}


def prior(name: str, scale: float = 1.0, **options: Any) -> Prior:
    """The prior called ``name``; add your own class to ``PRIORS`` to name it.

    >>> prior("laplace", 0.5)
    Laplace(scale=0.5)
    >>> prior("student", dof=5).std == (5 / 3) ** 0.5
    True
    """
    if name not in PRIORS:
        raise ConfigError(f"a prior is one of {', '.join(PRIORS)}, found {name!r}")
    return PRIORS[name](scale, **options)


def prior_magnitudes(prior: Prior, count: int) -> Tensor:
    """The magnitudes of ``count`` weights that follow the prior exactly: ``F⁻¹((i+½)/n)``, ascending."""
    return prior.magnitude_icdf((torch.arange(count, dtype=torch.float64) + 0.5) / count)


def rank_transform(weight: Tensor, prior: Prior) -> Tensor:
    """Latents with the order and signs of ``weight`` and the prior's magnitudes, ``|ŵ_(i)| = F⁻¹((i+½)/n)``.

    >>> rank_transform(torch.tensor([-5.0, 0.1]), Uniform(1.0))
    tensor([-0.7500,  0.2500])
    """
    flat = weight.detach().flatten()
    order = flat.abs().sort(stable=True).indices
    latent = torch.empty_like(flat)
    latent[order] = prior_magnitudes(prior, flat.numel()).to(flat)
    return (latent * torch.where(flat < 0, -1.0, 1.0)).reshape(weight.shape)
