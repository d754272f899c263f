"""How much of the latents' variance passes a gate at a given density: what a layer's gain makes up for."""

from __future__ import annotations

import bisect
import math

import torch

from bandstop.method.gate import Gate
from bandstop.method.priors import Prior

__all__ = ["PassingVariance"]


class PassingVariance:
    """``v(d) = E[(ŵψ(ŵ))²] / E[ŵ²]`` under the prior, when the threshold lets a share d pass.

    A soft gate on a laplace prior passes exactly the share d of the variance, because that tail has no memory. Tabulated once over
    densities from 1 to 10⁻⁹ and interpolated between (in logarithms).

    Never below d: a prior with a thin tail says less, but latents under training spread beyond it.

    >>> from bandstop.method.gate import Hard, Soft
    >>> from bandstop.method.priors import Laplace
    >>> round(PassingVariance(Laplace(1.0), Soft())(0.02), 3), round(PassingVariance(Laplace(1.0), Hard())(0.02), 2)
    (0.02, 0.25)
    """

    def __init__(self, prior: Prior, gate: Gate) -> None:
        fine = (torch.arange(512, dtype=torch.float64) + 0.5) / 512
        exponents = torch.linspace(0, 9, 37, dtype=torch.float64)
        densities = 10.0**-exponents
        cuts = prior.magnitude_icdf(1 - densities)
        tails = prior.magnitude_icdf(1 - densities[:, None] * fine)
        cold = 1e-6  # gates with a temperature end as hard cuts
        passed = torch.stack(
            [gate.effective(t, c, cold).square().mean() for t, c in zip(tails, cuts, strict=True)]
        )
        shares = passed * densities / (prior.magnitude_icdf(fine).square().mean())
        self._at = exponents.tolist()
        self._log_share = shares.clamp(min=1e-300).log().tolist()
        self._log_share[0] = 0.0

    def __call__(self, density: float) -> float:
        """v(d)."""
        place = -math.log10(min(max(density, 1e-9), 1.0))
        right = min(max(bisect.bisect_left(self._at, place), 1), len(self._at) - 1)
        low, high = self._at[right - 1], self._at[right]
        share = (place - low) / (high - low)
        found = math.exp(self._log_share[right - 1] * (1 - share) + self._log_share[right] * share)
        return max(found, density)
