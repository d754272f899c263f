"""What a tensor is in a trace, and how results are cut back to 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction

__all__ = ["Binarise", "Clip", "Cut", "Faint", "Kind", "is_foreign"]


class Kind(IntEnum):
    """What a tensor is in a trace; the largest kind among its operands decides about an operation."""

    CONSTANT = 0  # real values: buffers, masks, numbers made on the way
    FREE = 1  # derived from parameters that are not tracked: any value, hence taken as nowhere zero
    INDEX = 2  # real integers that came in with the input, such as tokens
    WEIGHT = 3  # derived from tracked weights only
    SIGNAL = 4  # varies with the input


class Binarise(torch.autograd.Function):
    """0/1 forwards and backwards; one half separates the positive integers from rounding noise."""

    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        return (value > 0.5).to(value.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return (grad > 0.5).to(grad.dtype)


class Clip(torch.autograd.Function):
    """0/1 forwards, the plain gradient backwards, so that counts of uses pass through."""

    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        return (value > 0.5).to(value.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad


class Faint(torch.autograd.Function):
    """The value itself, with a gradient that says "reached" and is too faint to be counted as a use."""

    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * 2.0**-40


@dataclass
class Cut:
    """A place where a weight meets signals: ``leaf`` stands in for ``source`` and collects the gradient."""

    source: Tensor
    leaf: Tensor
    multiplies: bool
    dense: Tensor | float | None = None


def is_foreign(tensor: Tensor) -> bool:
    """Whether a custom autograd function made ``tensor``: its backward pass need not follow paths."""
    made_by = tensor.grad_fn
    return isinstance(made_by, BackwardCFunction) and not isinstance(made_by, _OWN)


_OWN = tuple(function._backward_cls for function in (Binarise, Clip, Faint))
