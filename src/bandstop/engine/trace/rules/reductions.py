"""Surrogates of sums, means, maxima, pooling and resizing: the result varies where any of its inputs does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bandstop.engine.trace.kinds import Kind
from bandstop.engine.trace.nest import words
from bandstop.engine.trace.rules.algebra import add
from bandstop.engine.trace.tracer import Rule, Tracer

__all__ = ["RULES"]

_REDUCTIONS = words("""
    sum mean nansum nanmean amax amin prod logsumexp any all argmax argmin count_nonzero max min median
    nanmedian mode
""")
_PAIRS = {"max", "min", "median", "nanmedian", "mode"}


def _reduce(dim_at: int = 1, keep_at: int = 2) -> Rule:
    def rule(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value = args[0] if args else kwargs["input"]
        other = args[1] if len(args) > 1 else kwargs.get("other")
        if isinstance(other, Tensor):
            return add(tr, value, other)
        kind = tr.kind(value)
        dim = kwargs.get("dim", kwargs.get("axis", args[dim_at] if len(args) > dim_at else None))
        if isinstance(dim, bool):  # std(unbiased)
            dim = None
        keep = kwargs.get("keepdim", kwargs.get("keepdims", args[keep_at] if len(args) > keep_at else False))
        if dim is None or (isinstance(dim, (tuple, list)) and not dim):
            dim = tuple(range(value.ndim))
        if kind == Kind.WEIGHT:
            value = tr.faint(value)
        total = tr.emit(value.sum(dim, keepdim=bool(keep)), kind)
        name = getattr(func, "__name__", "")
        if name in ("std_mean", "var_mean"):
            return total, tr.keep(total.clone(), kind)
        if name in _PAIRS and isinstance(dim, int):
            return getattr(torch.return_types, name)((total, tr.keep(total.clone(), kind)))
        return total

    return rule


def _spread(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Sorting: any entry may end up anywhere along the dimension."""
    name = getattr(func, "__name__", "")
    value, kind = args[0], tr.kind(args[0])
    dim_at = 2 if name == "topk" else 1
    dim = kwargs.get("dim", args[dim_at] if len(args) > dim_at and not isinstance(args[dim_at], bool) else -1)
    shape = list(value.shape)
    if name == "topk":
        shape[dim] = kwargs.get("k", args[1] if len(args) > 1 else None)
    mixed = tr.emit((tr.faint(value) if kind == Kind.WEIGHT else value).sum(dim, keepdim=True), kind)
    values = tr.keep(mixed.expand(shape).clone(), kind)
    if name == "argsort":
        return values
    return getattr(torch.return_types, name)((values, tr.keep(values.clone(), kind)))


def _average(dims: int) -> Callable[..., Tensor]:
    return (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[dims - 1]


def _sizes(value: Any, dims: int) -> list[int]:
    sizes = [value] * dims if isinstance(value, int) else list(value)
    return sizes * dims if len(sizes) == 1 else sizes


def _pool(dims: int, names: tuple[str, ...], *, indices: bool = False) -> Rule:
    """The sum over each window, as its mean times its size."""

    def rule(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = dict(zip(names, args, strict=False)) | kwargs
        value = tr.signal(given["input"])
        window = _sizes(given["kernel_size"], dims)
        stride = _sizes(given["stride"], dims) if given.get("stride") not in (None, [], ()) else window
        padding, ceil = given.get("padding", 0), bool(given.get("ceil_mode", False))
        dilation = _sizes(given.get("dilation", 1), dims)
        if set(dilation) == {1}:
            pooled = _average(dims)(value, window, stride, padding, ceil) * math.prod(window)
        elif ceil:
            raise tr.failure("dilated pooling with ceil_mode", "leave out one of the two")
        else:
            planes = value.reshape(-1, 1, *value.shape[-dims:])
            convolve = (F.conv1d, F.conv2d, F.conv3d)[dims - 1]
            ones = torch.ones(1, 1, *window, dtype=value.dtype, device=value.device)
            pooled = convolve(planes, ones, None, stride, padding, dilation)
            pooled = pooled.reshape(*value.shape[:-dims], *pooled.shape[-dims:])
        pooled = tr.emit(pooled, Kind.SIGNAL)
        return (
            (pooled, torch.zeros_like(pooled, dtype=torch.long))
            if indices or given.get("return_indices")
            else pooled
        )

    return rule


def _adaptive(dims: int, *, indices: bool = False) -> Rule:
    def rule(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value = tr.signal(args[0])
        size = kwargs.get("output_size", args[1] if len(args) > 1 else None)
        pool: Callable[..., Tensor] = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[
            dims - 1
        ]
        pooled = tr.emit(pool(value, size) * math.prod(value.shape[-dims:]), Kind.SIGNAL)
        wants = indices or kwargs.get("return_indices", len(args) > 2 and args[2])
        return (pooled, torch.zeros_like(pooled, dtype=torch.long)) if wants else pooled

    return rule


def _resize(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    mode = kwargs.get("mode", args[3] if len(args) > 3 else "nearest")
    if mode == "bicubic":
        raise tr.failure("bicubic resizing", "use mode='bilinear'")
    # the smallest share of an interpolation must stay above one half
    return tr.emit(func(tr.signal(args[0]) * 1e6, *args[1:], **kwargs), Kind.SIGNAL)


_AVG = ("input", "kernel_size", "stride", "padding", "ceil_mode")
_MAX = ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
_LP = ("input", "norm_type", "kernel_size", "stride", "ceil_mode")

RULES: dict[str, Rule] = {
    **dict.fromkeys(_REDUCTIONS, _reduce()),
    **dict.fromkeys(["std", "var", "std_mean", "var_mean"], _reduce(keep_at=3)),
    **dict.fromkeys(["norm", "linalg_vector_norm", "vector_norm"], _reduce(dim_at=2, keep_at=3)),
    **dict.fromkeys(["sort", "topk", "argsort"], _spread),
    "interpolate": _resize,
}
for _dims in (1, 2, 3):
    RULES[f"avg_pool{_dims}d"] = _pool(_dims, _AVG)
    RULES[f"lp_pool{_dims}d"] = _pool(_dims, _LP)
    RULES[f"max_pool{_dims}d"] = _pool(_dims, _MAX)
    RULES[f"max_pool{_dims}d_with_indices"] = _pool(_dims, _MAX, indices=True)
    RULES[f"adaptive_avg_pool{_dims}d"] = _adaptive(_dims)
    RULES[f"adaptive_max_pool{_dims}d"] = _adaptive(_dims)
    RULES[f"adaptive_max_pool{_dims}d_with_indices"] = _adaptive(_dims, indices=True)
