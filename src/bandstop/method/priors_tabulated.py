"""Any distribution as a table: given probabilities, observed samples, or a density to be integrated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from bandstop.errors import ConfigError
from bandstop.method.priors import Prior

__all__ = ["Tabulated"]


@dataclass(frozen=True, init=False)
class Tabulated(Prior):
    """Constant density between consecutive ``edges``, with the given ``probabilities`` (normalised to one).

    Its scale is its standard deviation. It need not be symmetric: the quantile is that of the magnitude.

    >>> Tabulated([-2, -1, 1, 2], [1, 2, 1]).magnitude_quantile(0.75)
    1.5
    """

    edges: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __init__(self, edges: Sequence[float] | Tensor, probabilities: Sequence[float] | Tensor) -> None:
        at = torch.as_tensor(edges, dtype=torch.float64, device="cpu").flatten()
        mass = torch.as_tensor(probabilities, dtype=torch.float64, device="cpu").flatten()
        if at.numel() != mass.numel() + 1 or mass.numel() < 1:
            found = f"{at.numel()} edges and {mass.numel()} probabilities"
            raise ConfigError(f"a table needs one edge more than it has probabilities, found {found}")
        if not (bool(at.isfinite().all()) and bool((at.diff() > 0).all())):
            raise ConfigError("a table's edges must be finite and rising; sort them and drop repeated ones")
        if not (bool(mass.isfinite().all()) and bool((mass >= 0).all()) and float(mass.sum()) > 0):
            raise ConfigError("a table's probabilities must be finite, none negative and not all zero")
        mass = mass / mass.sum()
        middle, width = (at[1:] + at[:-1]) / 2, at.diff()
        mean = (mass * middle).sum()
        variance = (mass * ((middle - mean) ** 2 + width**2 / 12)).sum()
        object.__setattr__(self, "edges", tuple(at.tolist()))
        object.__setattr__(self, "probabilities", tuple(mass.tolist()))
        object.__setattr__(self, "scale", math.sqrt(float(variance)))

    @classmethod
    def from_centres(cls, centres: Sequence[float] | Tensor, probabilities: Sequence[float] | Tensor) -> Self:
        """A table over bins known by their centres; edges lie halfway between.

        >>> Tabulated.from_centres([-1, 0, 1], [0.2, 0.6, 0.2]).edges
        (-1.5, -0.5, 0.5, 1.5)
        """
        at = torch.as_tensor(centres, dtype=torch.float64).flatten()
        if at.numel() < 2:
            raise ConfigError(f"a table needs at least two centres, found {at.numel()}")
        inner = (at[1:] + at[:-1]) / 2
        ends = 2 * at[[0, -1]] - inner[[0, -1]]
        return cls(torch.cat((ends[:1], inner, ends[1:])), probabilities)

    @classmethod
    def from_samples(cls, samples: Tensor, cells: int = 512) -> Self:
        """The empirical distribution of ``samples``, in cells of about equal mass (tails stay resolved).

        >>> observed = Tabulated.from_samples(torch.linspace(-3, 3, 6001))
        >>> round(observed.magnitude_quantile(0.5), 2)
        1.5
        """
        ordered = samples.detach().double().flatten().cpu().sort().values
        if (
            ordered.numel() < 2
            or not bool(ordered.isfinite().all())
            or float(ordered[0]) == float(ordered[-1])
        ):
            raise ConfigError("a table from samples needs at least two different values, all of them finite")
        ranks = torch.linspace(0, ordered.numel() - 1, cells + 1).round().long()
        edges: Tensor = ordered[ranks].unique()  # type: ignore[no-untyped-call]
        cell = torch.bucketize(ordered, edges[1:-1], right=True)
        return cls(edges, torch.bincount(cell, minlength=edges.numel() - 1))

    @classmethod
    def from_density(cls, density: Callable[[Tensor], Tensor], limit: float, cells: int = 1024) -> Self:
        """A density on [−limit, limit], up to a constant, integrated over each cell by Simpson's rule.

        >>> sech = Tabulated.from_density(lambda x: 1 / torch.cosh(x), limit=20)
        >>> abs(sech.magnitude_quantile(0.5) - math.asinh(1)) < 2e-4
        True
        """
        if not (math.isfinite(limit) and limit > 0):
            raise ConfigError(f"a density's limit must be positive and finite, found {limit!r}")
        value = density(torch.linspace(-limit, limit, 2 * cells + 1, dtype=torch.float64))
        mass = value[:-2:2] + 4 * value[1::2] + value[2::2]
        return cls(torch.linspace(-limit, limit, cells + 1, dtype=torch.float64), mass)

    @property
    def std(self) -> float:
        return self.scale

    def density(self, x: Tensor) -> Tensor:
        edges, mass = self._columns(x)
        height = torch.nn.functional.pad(mass / edges.diff(), (1, 1))
        return height[torch.bucketize(x, edges, right=True)]

    def cdf(self, x: Tensor) -> Tensor:
        edges, mass = self._columns(x)
        return _interpolate(x, edges, torch.nn.functional.pad(mass.cumsum(0), (1, 0)))

    def magnitude_cdf(self, a: Tensor) -> Tensor:
        return self.cdf(a) - self.cdf(-a)

    def magnitude_icdf(self, rate: Tensor) -> Tensor:
        edges, _ = self._columns(rate)
        knots: Tensor = torch.cat((edges.new_zeros(1), edges.abs())).unique()  # type: ignore[no-untyped-call]
        return _interpolate(rate, self.magnitude_cdf(knots), knots)

    def icdf(self, rank: Tensor) -> Tensor:
        edges, mass = self._columns(rank)
        return _interpolate(rank, torch.nn.functional.pad(mass.cumsum(0), (1, 0)), edges)

    def sample(
        self,
        shape: Sequence[int],
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> Tensor:
        rate = torch.rand(tuple(shape), generator=generator, dtype=torch.float64, device=device)
        edges, mass = self._columns(rate)
        return _interpolate(rate, torch.nn.functional.pad(mass.cumsum(0), (1, 0)), edges).to(dtype)

    def support(self, mass: float = 1.0) -> float:
        return max(abs(self.edges[0]), abs(self.edges[-1]))

    def with_scale(self, scale: float) -> Self:
        if not (math.isfinite(scale) and scale > 0):
            raise ConfigError(f"a prior's scale must be positive and finite, found {scale!r}")
        return type(self)([edge * scale / self.scale for edge in self.edges], self.probabilities)

    def _columns(self, like: Tensor) -> tuple[Tensor, Tensor]:
        return like.new_tensor(self.edges), like.new_tensor(self.probabilities)


def _interpolate(x: Tensor, knots: Tensor, heights: Tensor) -> Tensor:
    """Piecewise linear through (knots, heights), constant outside; where knots repeat, the left-most wins."""
    right = torch.bucketize(x, knots).clamp(1, knots.numel() - 1)
    left = right - 1
    part = ((x - knots[left]) / (knots[right] - knots[left]).clamp_min(torch.finfo(x.dtype).tiny)).clamp(0, 1)
    return torch.lerp(heights[left], heights[right], part)
