"""The band-stop gate ψ: ``w = ŵ·ψ(ŵ)``, with ψ near 0 for small latent magnitudes and near 1 for large ones.

Properties of every gate (the paper's i–iv): 0 ≤ ψ ≤ 1; symmetric; non-decreasing in |ŵ|; ψ → 1 for |ŵ| ≫ a
and → 0 (or exactly 0) for |ŵ| ≪ a once the temperature τ is small. A new gate is one class with ``psi`` and,
where the plain derivative is not wanted, ``effective``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from bandstop.errors import ConfigError
from bandstop.method.gate_autograd import (
    HardThreshold,
    LeakyProduct,
    LogisticScaled,
    Shrink,
    ShrinkScaled,
    applied,
)
from bandstop.method.gate_on_cpu import shrunk_on_cpu

__all__ = ["GATES", "Garrote", "Gate", "Hard", "Logistic", "Soft", "gate"]


@dataclass(frozen=True)
class Gate:
    """Base: ``psi`` defines the gate; ``exact`` says whether it is exactly zero below the threshold."""

    exact: ClassVar[bool] = True

    def psi(self, latent: Tensor, threshold: Tensor | float, temperature: Tensor | float = 1.0) -> Tensor:
        """ψ(ŵ) in [0, 1]."""
        raise NotImplementedError

    def effective(
        self, latent: Tensor, threshold: Tensor | float, temperature: Tensor | float = 1.0
    ) -> Tensor:
        """ŵ·ψ(ŵ), differentiable."""
        return latent * self.psi(latent, threshold, temperature)

    def scaled(self, latent: Tensor, gain: Tensor, threshold: Tensor, temperature: Tensor) -> Tensor:
        """``g·ŵ·ψ(ŵ)``: what a layer uses; gates may fuse it."""
        return self.effective(latent, threshold, temperature) * gain


@dataclass(frozen=True)
class Logistic(Gate):
    """The paper's gate with a temperature: ``ψ = 1 / (1 + σ·exp((a² − ŵ²)/τ))``.

    τ = 1 is the paper's form; annealing τ → 0 makes it a hard threshold at a. (Annealing σ alone only moves
    it: ψ(a) = 1/(1+σ).)

    >>> Logistic(sigma=3.0).psi(torch.tensor([2.0, -2.0]), 2.0)
    tensor([0.2500, 0.2500])
    """

    sigma: float = 1.0
    exact: ClassVar[bool] = False

    def psi(self, latent: Tensor, threshold: Tensor | float, temperature: Tensor | float = 1.0) -> Tensor:
        level = torch.as_tensor(threshold, dtype=latent.dtype, device=latent.device)
        shift = torch.tensor(self.sigma, dtype=latent.dtype, device=latent.device).log()
        return torch.sigmoid((latent.square() - level.square()) / temperature - shift)

    def scaled(self, latent: Tensor, gain: Tensor, threshold: Tensor, temperature: Tensor) -> Tensor:
        arguments = (latent, gain, threshold, temperature, math.log(self.sigma))
        weight: Tensor = applied(LogisticScaled, *arguments)[0]
        return weight


@dataclass(frozen=True)
class Soft(Gate):
    """Soft threshold: ``ψ = (1 − a/|ŵ|)₊``, so ``w = sign(ŵ)(|ŵ| − a)₊``: zero below a and continuous there.

    ``leak`` is the gradient that reaches a stopped weight: 1 as if the gate were open, 0 the true derivative.

    >>> Soft().effective(torch.tensor([-3.0, 0.5, 2.0]), 1.0)
    tensor([-2.,  0.,  1.])
    """

    leak: float = 1.0

    def psi(self, latent: Tensor, threshold: Tensor | float, temperature: Tensor | float = 1.0) -> Tensor:
        return (1 - threshold / latent.abs().clamp(min=torch.finfo(latent.dtype).tiny)).clamp(0, 1)

    def effective(
        self, latent: Tensor, threshold: Tensor | float, temperature: Tensor | float = 1.0
    ) -> Tensor:
        level = torch.as_tensor(threshold, dtype=latent.dtype, device=latent.device)
        shrunk: Tensor = applied(Shrink, latent, level, self.leak)
        return shrunk

    def scaled(self, latent: Tensor, gain: Tensor, threshold: Tensor, temperature: Tensor) -> Tensor:
        if self.leak != 1:
            return super().scaled(latent, gain, threshold, temperature)
        weight: Tensor | None = shrunk_on_cpu(latent, gain, threshold)
        return applied(ShrinkScaled, latent, gain, threshold) if weight is None else weight


@dataclass(frozen=True)
class Hard(Gate):
    """Hard threshold: ``ψ = 1[|ŵ| > a]``, straight-through (``leak`` = 1) or with the true derivative (0).

    >>> Hard().effective(torch.tensor([-3.0, 0.5, 2.0]), 1.0)
    tensor([-3.,  0.,  2.])
    """

    leak: float = 1.0

    def psi(self, latent: Tensor, threshold: Tensor | float, temperature: Tensor | float = 1.0) -> Tensor:
        return (latent.abs() > threshold).to(latent.dtype)

    def effective(
        self, latent: Tensor, threshold: Tensor | float, temperature: Tensor | float = 1.0
    ) -> Tensor:
        level = torch.as_tensor(threshold, dtype=latent.dtype, device=latent.device)
        passed: Tensor = applied(HardThreshold, latent, level, self.leak)
        return passed


@dataclass(frozen=True)
class Garrote(Gate):
    """``ψ = (1 − (a/|ŵ|)^p)₊``: Soft at p = 1, nearer to Hard as p grows: large weights are shrunk less.

    >>> Garrote(power=2.0).effective(torch.tensor([0.5, 2.0]), 1.0)
    tensor([0.0000, 1.5000])
    """

    power: float = 2.0
    leak: float = 1.0

    def psi(self, latent: Tensor, threshold: Tensor | float, temperature: Tensor | float = 1.0) -> Tensor:
        ratio = threshold / latent.abs().clamp(min=torch.finfo(latent.dtype).tiny)
        return (1 - ratio**self.power).clamp(0, 1)

    def effective(
        self, latent: Tensor, threshold: Tensor | float, temperature: Tensor | float = 1.0
    ) -> Tensor:
        ratio = (threshold / latent.detach().abs().clamp(min=torch.finfo(latent.dtype).tiny)) ** self.power
        passed = ratio < 1
        value = latent.detach() * torch.where(passed, 1 - ratio, 0)
        slope = torch.where(passed, 1 + (self.power - 1) * ratio, self.leak)
        product: Tensor = applied(LeakyProduct, latent, value, slope)
        return product


GATES: dict[str, type[Gate]] = {"logistic": Logistic, "soft": Soft, "hard": Hard, "garrote": Garrote}


def gate(name: str, **settings: float) -> Gate:
    """Gate by name.

    >>> gate("soft", leak=0.1)
    Soft(leak=0.1)
    """
    if name not in GATES:
        raise ConfigError(f"gate must be one of {', '.join(GATES)}, found {name!r}")
    return GATES[name](**settings)
