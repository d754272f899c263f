"""The gates' forward passes with the gradients that training wants, in few passes over memory."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["HardThreshold", "LeakyProduct", "LogisticScaled", "Shrink", "ShrinkScaled", "shrunk_in_cache"]

PART = 1 << 16
"""Weights that go through both operations of the soft gate while they are in the CPU's cache."""


class Leaky(torch.autograd.Function):
    """Backward 1 outside the stop band and ``leak`` inside, so that stopped weights can return."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        latent, threshold, ctx.leak = inputs
        if ctx.leak != 1:
            ctx.save_for_backward(latent, threshold)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        if ctx.leak == 1:
            return grads[0], None, None
        latent, threshold = ctx.saved_tensors
        return grads[0] * torch.where(latent.abs() > threshold, 1.0, ctx.leak), None, None


class Shrink(Leaky):
    """``sign(ŵ)(|ŵ| − a)₊``."""

    @staticmethod
    def forward(latent: Tensor, threshold: Tensor, leak: float) -> Tensor:
        return latent - latent.clamp(-threshold, threshold)


class HardThreshold(Leaky):
    """``ŵ·1[|ŵ| > a]``; straight-through for ``leak`` = 1."""

    @staticmethod
    def forward(latent: Tensor, threshold: Tensor, leak: float) -> Tensor:
        return latent * (latent.abs() > threshold)


class ShrinkScaled(torch.autograd.Function):
    """``g·sign(ŵ)(|ŵ| − a)₊`` with full leak, in few passes over memory, which are what a step costs."""

    generate_vmap_rule = True

    @staticmethod
    def forward(latent: Tensor, gain: Tensor, threshold: Tensor) -> Tensor:
        weight = shrunk_in_cache(latent, gain, threshold)
        return latent.clamp(-threshold, threshold).sub_(latent).mul_(-gain) if weight is None else weight

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        ctx.save_for_backward(output, inputs[1])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None]:
        weight, gain = ctx.saved_tensors
        slope = (
            torch.dot(grads[0].reshape(-1), weight.reshape(-1)) / gain if ctx.needs_input_grad[1] else None
        )
        return grads[0] * gain, slope, None


def shrunk_in_cache(latent: Tensor, gain: Tensor, threshold: Tensor) -> Tensor | None:
    """``g·sign(ŵ)(|ŵ| − a)₊`` of a large tensor in one pass over memory, part by part in the CPU's cache.

    Returns None when the fast path does not apply: small tensors, other devices (the threshold would have to
    come to the host), sharded tensors, compilation, transforms of torch.func.

    >>> shrunk_in_cache(torch.full((PART + 1,), 3.0), torch.tensor(0.5), torch.tensor(1.0)).unique()
    tensor([1.])
    >>> shrunk_in_cache(torch.ones(3), torch.tensor(0.5), torch.tensor(1.0)) is None
    True
    """
    if latent.device.type != "cpu" or latent.numel() <= PART or torch.compiler.is_compiling():
        return None
    plain = type(latent) in (Tensor, torch.nn.Parameter) and type(threshold) is Tensor
    plain = plain and not torch._C._functorch.is_functorch_wrapped_tensor(latent)
    if not plain or latent.dtype != torch.float32 or not latent.is_contiguous():
        return None
    weight, level, scale = torch.empty_like(latent), float(threshold), float(gain)
    parts = zip(torch.split(latent.detach().view(-1), PART), torch.split(weight.view(-1), PART), strict=True)
    for source, target in parts:
        torch.ops.aten.softshrink.out(source, level, out=target).mul_(scale)
    return weight


class LogisticScaled(torch.autograd.Function):
    """``g·ŵ·ψ(ŵ)`` of the logistic gate; derivative ``g·(ψ + 2ŵ²ψ(1 − ψ)/τ)``."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        latent: Tensor, gain: Tensor, threshold: Tensor, temperature: Tensor, shift: float
    ) -> tuple[Tensor, Tensor]:
        psi = latent.square().div_(temperature).sub_(threshold.square() / temperature + shift).sigmoid_()
        return (latent * psi).mul_(gain), psi

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        latent, gain, _, temperature, _ = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(latent, output[1], gain, temperature)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None, None, None]:
        latent, psi, gain, temperature = ctx.saved_tensors
        slope = None
        if ctx.needs_input_grad[1]:
            slope = torch.dot(grads[0].reshape(-1), (latent * psi).reshape(-1))
        inner = (
            torch.addcmul(psi, psi, psi, value=-1).mul_(latent).mul_(latent).mul_(2 / temperature).add_(psi)
        )
        return (grads[0] * inner).mul_(gain), slope, None, None, None


class LeakyProduct(torch.autograd.Function):
    """``value`` forward; backward ``slope`` towards the latent."""

    generate_vmap_rule = True

    @staticmethod
    def forward(latent: Tensor, value: Tensor, slope: Tensor) -> Tensor:
        return value.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[2])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return grads[0] * ctx.saved_tensors[0], None, None
