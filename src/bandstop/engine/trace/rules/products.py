"""Surrogates of matrix products, convolutions and einsum, all of them one bilinear law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bandstop.engine.trace.kinds import Kind
from bandstop.engine.trace.nest import every_tensor
from bandstop.engine.trace.rules.algebra import add, count_uses, product
from bandstop.engine.trace.tracer import Rule, Tracer

__all__ = ["RULES", "linear"]


def _with_bias(tr: Tracer, value: Tensor, bias: Any, trailing: int = 0) -> Tensor:
    """Biases are constants, unless they are tracked or come from a signal themselves."""
    if tr.kind(bias) < Kind.INDEX:
        return value
    return add(tr, value, bias.reshape(-1, *[1] * trailing) if trailing else bias)


def linear(tr: Tracer, signal: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x Wᵀ + b``."""
    return _with_bias(tr, product(tr, F.linear, signal, weight, matrix=True), bias)


def _linear(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    names = dict(zip(("input", "weight", "bias"), args, strict=False)) | kwargs
    return linear(tr, names["input"], names["weight"], names.get("bias"))


def _bilinear(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """``y_o = Σ_ij x_i W_oij z_j + b_o``."""
    left, right, weight = args[:3]
    pairs = product(tr, lambda x, z: x.unsqueeze(-1) * z.unsqueeze(-2), left, right)
    value = product(tr, lambda p, w: torch.einsum("...ij,oij->...o", p, w), pairs, weight)
    return _with_bias(tr, value, kwargs.get("bias", args[3] if len(args) > 3 else None))


def _convolution(dims: int, *, transposed: bool = False) -> Rule:
    order = "input weight bias stride padding "
    order += "output_padding groups dilation" if transposed else "dilation groups"

    def rule(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        names = dict(zip(order.split(), args, strict=False)) | kwargs
        signal, weight, bias = names.pop("input"), names.pop("weight"), names.pop("bias", None)

        def uses(kernel: Tensor) -> Tensor:  # the same for every pair of channels
            single = {key: value for key, value in names.items() if key != "groups"}
            shape = [1 if i == signal.ndim - dims - 1 else n for i, n in enumerate(signal.shape)]
            return count_uses(kernel[:1, :1], lambda x, w: func(x, w, None, **single), shape)

        value = product(tr, lambda x, w: func(x, w, None, **names), signal, weight, uses=uses)
        return _with_bias(tr, value, bias, trailing=dims)

    return rule


def _matmul(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    left, right = (*args, *every_tensor(kwargs))[:2]
    return product(tr, torch.matmul, left, right, matrix=True)


def _outer(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    return product(tr, lambda a, b: func(a, b, *args[2:], **kwargs), *args[:2])


def _matmul_plus(
    tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Tensor:
    base, left, right = args[:3]
    value = product(tr, torch.matmul, left, right, matrix=True)
    if value.ndim > base.ndim and "addbmm" in getattr(func, "__name__", ""):
        value = tr.emit(value.sum(0), tr.kind(value))
    return _with_bias(tr, value, base) if tr.kind(value) == Kind.SIGNAL else value


def _swapped_matmul(
    tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Tensor:
    return product(tr, torch.matmul, args[1], args[0], matrix=True)


def _weight_norm(
    tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Tensor:
    return product(tr, torch.mul, args[0], args[1])


def _einsum(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """Pairwise from the first signal on, then left to right, so that each factor is multiplied in once."""
    if not isinstance(args[0], str):
        raise tr.failure("'einsum' without an equation")
    operands = list(args[1]) if len(args) == 2 and isinstance(args[1], (list, tuple)) else list(args[1:])
    equation = args[0].replace(" ", "")
    if len(operands) == 1:
        kind = tr.kind(operands[0])
        return tr.emit(torch.einsum(equation, operands[0]), kind)
    if len(operands) == 2:
        return product(tr, lambda a, b: torch.einsum(equation, a, b), *operands)
    if "..." in equation or "->" not in equation:
        raise tr.failure("'einsum' of three or more operands with '...' or without '->'", "spell it out")
    terms, result = equation.split("->")[0].split(","), equation.split("->")[1]
    first = max(range(len(operands)), key=lambda i: (tr.kind(operands[i]), -i))
    order = [first, *(i for i in range(len(operands)) if i != first)]
    value: Tensor = operands[first]
    letters = terms[first]
    for place, i in enumerate(order[1:], start=2):
        wanted = set("".join(terms[j] for j in order[place:])) | set(result)
        left, right = letters, terms[i]
        last = place == len(order)
        letters = result if last else "".join(c for c in dict.fromkeys(left + right) if c in wanted)
        step = f"{left},{right}->{letters}"
        value = product(tr, lambda a, b, step=step: torch.einsum(step, a, b), value, operands[i])  # type: ignore[misc]
    return value


RULES: dict[str, Rule] = {
    "linear": _linear,
    **{f"conv{dims}d": _convolution(dims) for dims in (1, 2, 3)},
    **{f"conv_transpose{dims}d": _convolution(dims, transposed=True) for dims in (1, 2, 3)},
    **dict.fromkeys(["matmul", "mm", "bmm", "mv", "dot", "sparse_mm", "spmm", "smm"], _matmul),
    "rmatmul": _swapped_matmul,
    **dict.fromkeys(["outer", "ger", "inner", "tensordot", "kron"], _outer),
    **dict.fromkeys(["addmm", "addmv", "baddbmm", "addbmm"], _matmul_plus),
    "einsum": _einsum,
    "bilinear": _bilinear,
    "weight_norm": _weight_norm,
}
