"""Any prior in gaussian coordinates: latents follow the prior, and the optimiser moves them as gaussian ones.

A step of an optimiser is about as long for every weight. Whether such steps suit latents depends on the
prior: a uniform one has its whole tail within one step of the threshold, a heavy-tailed one leaves a stopped
weight a long way to it. So the numbers that are trained, z, follow a gaussian, and a latent is the prior's
quantile of the same rank. With B and F the distributions of magnitudes, of the gaussian and of the prior,

    ŵ = t · sign(z) · F⁻¹(B(|z|/s)),

s the spread of z and t the prior's scale. The map keeps the order, so ŵ follows the prior exactly as well as
z follows the gaussian, and a rate r is the threshold t·F⁻¹(r). A prior that is not symmetric is held in its
magnitudes; signs are even.
"""

from __future__ import annotations

import bisect
import math
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from bandstop.method.gate import Gate
from bandstop.method.priors import Gaussian, Prior

__all__ = ["BASE", "CELLS", "Charted", "PassingScale", "chart_reach", "chart_table"]

BASE: Prior = Gaussian(1.0)
"""What the trained numbers follow."""
CELLS = 1024
"""Cells of the table, from zero to the magnitude that the largest of a sample has."""


@lru_cache(maxsize=256)
def chart_reach(count: int) -> float:
    """The gaussian magnitude at which the table of ``count`` weights ends: that of the largest of them.

    >>> round(chart_reach(1000), 2)
    3.48
    """
    return BASE.magnitude_quantile(1 - 0.5 / count)


@lru_cache(maxsize=256)
def chart_table(prior: Prior, count: int) -> Tensor:
    """``F⁻¹(B(x))`` at ``CELLS + 1`` magnitudes x from 0 to ``chart_reach(count)``, float64.

    >>> from bandstop.method.priors import Uniform
    >>> chart_table(Uniform(1.0), 1000)[[0, 512, 1024]]
    tensor([0.0000, 0.9182, 0.9995], dtype=torch.float64)
    """
    at = torch.linspace(0, chart_reach(count), CELLS + 1, dtype=torch.float64, device="cpu")
    # The last entry by its rank: the cdf of a far magnitude may round to one.
    ranks = BASE.magnitude_cdf(at).clamp_(max=1 - 0.5 / count)
    return prior.magnitude_icdf(ranks)


class Charted(torch.autograd.Function):
    """``scale · sign(z) · table(|z| · cells)``, linear inside a cell and constant beyond the table.

    Backward as if it were the identity, as gates pass gradients as if they were open: each prior is trained
    with the steps that a gaussian one has.

    >>> z = torch.tensor([-1.5, 0.25, 9.0], requires_grad=True)
    >>> latent = Charted.apply(z, torch.tensor([0.0, 1.0, 4.0]), torch.tensor(1.0), torch.tensor(2.0))
    >>> latent.sum().backward()
    >>> latent.tolist(), z.grad.tolist()
    ([-5.0, 0.5, 8.0], [1.0, 1.0, 1.0])
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor, table: Tensor, cells: Tensor, scale: Tensor) -> Tensor:
        last, flat = table.numel() - 1, z.reshape(-1)
        heights = (table * scale).to(z.dtype)
        rises = torch.nn.functional.pad(heights.diff(), (0, 1))
        place = (flat.abs() * cells).clamp_(max=last)
        cell = place.to(torch.int32).clamp_(0, last)  # even a NaN has a valid cell
        found = torch.addcmul(heights.index_select(0, cell), place.sub_(cell), rises.index_select(0, cell))
        return found.copysign_(flat).reshape(z.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        return grads[0], None, None, None


class PassingScale:
    """t/s: the prior's scale at which what passes has the variance that it has under the gaussian.

    The prior's shape then says how the passing weights differ from each other, and not how large a layer's
    output is. Tabulated once over densities from 1 to 10⁻⁹, interpolated in logarithms.

    >>> from bandstop.method.gate import Soft
    >>> from bandstop.method.priors import Laplace
    >>> round(PassingScale(Laplace(1.0), Soft())(1.0), 2), PassingScale(Gaussian(1.0), Soft())(0.01)
    (0.71, 1.0)
    """

    def __init__(self, prior: Prior, gate: Gate) -> None:
        self._exponents = torch.linspace(0, 9, 37, dtype=torch.float64).tolist()
        pairs = [(_passing_rms(BASE, gate, e), _passing_rms(prior, gate, e)) for e in self._exponents]
        self._logs = [math.log(max(base, 1e-300)) - math.log(max(own, 1e-300)) for base, own in pairs]

    def __call__(self, density: float) -> float:
        """t/s where a share ``density`` passes."""
        at = -math.log10(min(max(density, 1e-9), 1.0))
        right = min(max(bisect.bisect_left(self._exponents, at), 1), len(self._exponents) - 1)
        low, high = self._exponents[right - 1], self._exponents[right]
        part = (at - low) / (high - low)
        return math.exp(self._logs[right - 1] * (1 - part) + self._logs[right] * part)


def _passing_rms(prior: Prior, gate: Gate, exponent: float) -> float:
    """Root mean square of what passes at density 10^−exponent."""
    density = 10.0**-exponent
    fine = (torch.arange(2048, dtype=torch.float64, device="cpu") + 0.5) / 2048
    threshold = prior.magnitude_icdf(torch.tensor(1 - density, dtype=torch.float64, device="cpu"))
    passed = gate.effective(prior.magnitude_icdf(1 - density * fine), threshold, 1e-6)
    return float(passed.square().mean().sqrt())
