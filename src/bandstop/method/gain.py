"""The gain that gives a layer back the variance that its gate stops."""

from __future__ import annotations

import bisect
import math

import torch

from bandstop.method.gate import Gate
from bandstop.method.priors import Prior

__all__ = ["VarianceGain"]


class VarianceGain:
    """``g(d) = v(d)^−½``, where ``v(d) = E[(ŵψ(ŵ))²] / E[ŵ²]`` is the variance that passes at density d.

    Both expectations are the prior's, with the threshold that lets a share d pass. A soft gate on a Laplace
    prior passes exactly the share d of the variance, because the Laplace tail is memoryless. v is tabulated
    once over densities from 1 to 10⁻⁹ and interpolated between them (in logarithms).

    v is never below d: a prior with a thin tail says less, but latents under training spread beyond it.

    >>> from bandstop.method.gate import Hard, Soft
    >>> from bandstop.method.priors import Laplace
    >>> gain = VarianceGain(Laplace(1.0), Soft())
    >>> round(gain.variance(0.02), 3), round(gain(0.02), 2)
    (0.02, 7.07)
    >>> round(VarianceGain(Laplace(1.0), Hard()).variance(0.02), 2)
    0.25
    """

    def __init__(self, prior: Prior, gate: Gate) -> None:
        fine = (torch.arange(512, dtype=torch.float64) + 0.5) / 512
        exponents = torch.linspace(0, 9, 37, dtype=torch.float64)
        densities = 10.0**-exponents
        thresholds = prior.magnitude_icdf(1 - densities)
        tails = prior.magnitude_icdf(1 - densities[:, None] * fine)
        cold = 1e-6  # gates with a temperature end as hard thresholds
        pairs = zip(tails, thresholds, strict=True)
        passed = torch.stack([gate.effective(tail, level, cold).square().mean() for tail, level in pairs])
        variances = passed * densities / (prior.magnitude_icdf(fine).square().mean())
        self._exponents = exponents.tolist()
        self._log_variances = variances.clamp(min=1e-300).log().tolist()
        self._log_variances[0] = 0.0

    def __call__(self, density: float) -> float:
        """g(d)."""
        return float(self.variance(density) ** -0.5)

    def variance(self, density: float) -> float:
        """v(d)."""
        at = -math.log10(min(max(density, 1e-9), 1.0))
        right = min(max(bisect.bisect_left(self._exponents, at), 1), len(self._exponents) - 1)
        low, high = self._exponents[right - 1], self._exponents[right]
        part = (at - low) / (high - low)
        found = math.exp(self._log_variances[right - 1] * (1 - part) + self._log_variances[right] * part)
        return max(found, density)
