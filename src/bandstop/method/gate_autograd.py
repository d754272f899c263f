"""The gates' forward passes with the gradients that training wants, in few passes over memory."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = [
    "HardThreshold",
    "LeakyProduct",
    "LogisticScaled",
    "Shrink",
    "ShrinkScaled",
    "applied",
    "plainly_run",
]


def plainly_run(tensor: Tensor) -> bool:
    """Whether operations on ``tensor`` simply happen: no compilation, no transform of torch.func, no DTensor.

    >>> plainly_run(torch.ones(1)), torch.func.vmap(lambda x: torch.tensor(plainly_run(x)))(torch.ones(1))
    (True, tensor([False]))
    """
    if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
        return False
    return type(tensor) in (Tensor, torch.nn.Parameter) and not tensor.is_inference()


def applied(function: type[torch.autograd.Function], *arguments: Any) -> Any:
    """``function.apply(*arguments)`` without torch's look at its signature, which takes longer than a small
    layer's gate.

    >>> float(applied(Shrink, torch.tensor(-3.0), torch.tensor(1.0), 1.0))
    -2.0
    """
    if not plainly_run(arguments[0]):
        return function.apply(*arguments)  # type: ignore[no-untyped-call]
    return super(torch.autograd.Function, function).apply(*arguments)  # type: ignore[misc]


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
        return latent.clamp(-threshold, threshold).sub_(latent).mul_(-gain)

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
