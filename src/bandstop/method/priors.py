"""Zero-mean distributions to draw latent weights towards; their quantiles turn a rate into a threshold.

A new symmetric prior is a class of a few lines: ``density``, ``magnitude_cdf`` and ``std``; the rest follows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from bandstop.errors import ConfigError
from bandstop.method.prior_base import Prior
from bandstop.method.priors_tabulated import Tabulated

__all__ = [
    "PRIORS",
    "Gaussian",
    "Laplace",
    "Prior",
    "StudentT",
    "Tabulated",
    "Uniform",
    "literal_quantile",
    "prior",
]


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


def literal_quantile(prior: Prior, rate: float) -> float:
    """The threshold as printed in the paper, kept only to show that it misses the budget (see the errata).

    uniform a = r/T; gaussian a = s√2·erf⁻¹(2r − 1); laplace a = b·ln 2r for r < ½, else −b·ln(2 − 2r).
    The last two are F⁻¹(r) of ŵ, where a gate that cuts by magnitude needs the quantile of |ŵ|.

    >>> a = literal_quantile(Gaussian(1.0), 0.55)
    >>> round(float(Gaussian(1.0).magnitude_cdf(torch.tensor(a))), 4)  # stopped: 2r − 1, not r
    0.1
    """
    if isinstance(prior, Uniform):
        return rate / prior.limit
    if isinstance(prior, Gaussian):
        return (
            prior.scale * math.sqrt(2) * float(torch.erfinv(torch.tensor(2 * rate - 1, dtype=torch.float64)))
        )
    if isinstance(prior, Laplace):
        return prior.scale * (math.log(2 * rate) if rate < 0.5 else -math.log(2 - 2 * rate))
    raise ConfigError(f"the paper prints a quantile for uniform, gaussian and laplace only, found {prior!r}")
