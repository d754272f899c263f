"""Surrogates of operations that work entry by entry.

A function of one signal passes it on: relu, sigmoid, softmax, dropout, casts, normalisation. A sum varies
where one of its terms does. So does a product of two signals: a factor that does not vary may still be a
constant other than zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bandstop.engine.trace.kinds import Kind
from bandstop.engine.trace.nest import every_tensor, joint_shape, words
from bandstop.engine.trace.rules.algebra import add, product
from bandstop.engine.trace.tracer import Rule, Tracer

__all__ = ["RULES"]

_ZERO_STAYS = words("""
    abs absolute neg negative pos positive sign sgn sin sinh asin arcsin asinh tan tanh atan arctan atanh
    square sqrt expm1 log1p erf erfinv relu relu6 leaky_relu prelu rrelu elu selu celu gelu silu mish
    hardtanh hardswish softsign tanhshrink softshrink hardshrink threshold clamp clip clamp_min clamp_max
    round floor ceil trunc fix frac nan_to_num real conj resolve_conj resolve_neg dropout dropout1d
    dropout2d dropout3d alpha_dropout feature_alpha_dropout feature_dropout native_dropout normalize
    detach .data clone to float double half bfloat16 type type_as cpu cuda as_tensor pin_memory
    alias long int bool short byte char local_response_norm renorm bernoulli
""")
_ZERO_MOVES = words("""
    exp exp2 log log2 log10 sigmoid special_expit expit logsigmoid log_sigmoid hardsigmoid softplus
    softmax softmin log_softmax gumbel_softmax cos cosh acos arccos acosh reciprocal rsqrt logical_not
    bitwise_not invert erfc lgamma digamma isnan isinf isfinite logit
""")
_TERMS = words("""
    sub subtract rsub maximum minimum fmax fmin gt ge lt le eq ne greater greater_equal less less_equal
    not_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor and or xor rand ror
    rxor atan2 arctan2 hypot fmod remainder mod rmod logaddexp logaddexp2 lerp isclose copysign heaviside
    float_power rpow xlogy
""")


def _terms(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    numbers = [value for value in args if not isinstance(value, Tensor) and isinstance(value, (int, float))]
    return add(tr, *every_tensor((args, kwargs)), *numbers[:1])


def _pass(zero_stays: bool) -> Rule:
    def rule(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        first = args[0] if args else next(every_tensor(kwargs))
        kind = tr.kind(first)
        if kind < Kind.WEIGHT:  # the traced operand is elsewhere, such as the bound of a clamp
            return _terms(tr, func, args, kwargs)
        if kind == Kind.SIGNAL and getattr(func, "__name__", "").endswith("_"):
            return first  # in place
        if kind == Kind.SIGNAL or zero_stays:
            return tr.keep(first.clone(), kind)
        return tr.keep(
            first + (1 - first).detach(), kind
        )  # exp(0) = 1: an absent weight no longer means no connection

    return rule


def _softmax(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    result: Tensor = _pass(False)(tr, func, args, kwargs)
    dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
    if dim in (-1, result.ndim - 1) and tr.kind(result) == Kind.SIGNAL:
        tr.mark_shares(result)
    return result


def _convert(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """A change of type leaves a surrogate as it is; a change of device moves it."""
    value: Tensor = _pass(True)(tr, func, args, kwargs)
    if getattr(func, "__name__", "") in ("cpu", "cuda"):
        return tr.keep(func(value, *args[1:], **kwargs), tr.kind(value))
    for wish in [*args[1:], *kwargs.values()]:
        place = wish.device if isinstance(wish, Tensor) else wish
        if isinstance(place, (torch.device, str)):
            value = tr.keep(value.to(place), tr.kind(value))
    return value


def _power(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    traced_exponent = tr.kind(args[1] if len(args) > 1 else kwargs["exponent"]) >= Kind.WEIGHT
    return (_terms if traced_exponent else _pass(True))(tr, func, args, kwargs)


def _times(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    left, right = (*args, *every_tensor(kwargs))[:2]
    for one, other in ((left, right), (right, left)):
        if not isinstance(other, Tensor) and tr.kind(one) == Kind.SIGNAL and other != 0:
            return tr.keep(tr.signal(one).clone(), Kind.SIGNAL)
    return product(tr, torch.mul, left, right)


def _divide(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    over, under = (*args, *every_tensor(kwargs))[:2]
    if tr.kind(over) == Kind.WEIGHT and tr.kind(under) < Kind.SIGNAL:
        # a divisor is never zero, so that it has no say in the pattern
        shape = joint_shape(over, under)
        return tr.keep(over.expand(shape).clone(), Kind.WEIGHT)
    if tr.kind(under) >= Kind.INDEX and tr.kind(over) < Kind.INDEX:
        return add(tr, under, torch.zeros_like(over) if isinstance(over, Tensor) else 0)
    return _times(tr, func, (over, under if isinstance(under, Tensor) else 1.0), {})


def _times_plus(
    tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Tensor:
    base, left, right = args[:3]
    if max(tr.kind(left), tr.kind(right)) >= Kind.WEIGHT:
        return add(tr, base, product(tr, torch.mul, left, right))
    return add(tr, base, torch.zeros(joint_shape(left, right), device=base.device))


def _reversed(rule: Rule) -> Rule:
    return lambda tr, func, args, kwargs: rule(tr, func, (args[1], args[0]), kwargs)


def _add(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    return add(tr, *(args + tuple(every_tensor(kwargs)))[:2])


def _where(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    if len(args) != 3:
        raise tr.failure("'where' with one argument, whose result's shape depends on the data")
    condition, this, that = args if func is not Tensor.where else (args[1], args[0], args[2])
    if tr.kind(condition) >= Kind.INDEX:
        return add(tr, condition, this, that)
    kind = max(tr.kind(this), tr.kind(that))
    read = tr.signal if kind == Kind.SIGNAL else tr.structure
    return tr.keep(torch.where(condition, read(this), read(that)), kind)


def _masked_fill(
    tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Tensor:
    value = kwargs.get("value", args[2] if len(args) > 2 else 0)
    mask = kwargs.get("mask", args[1] if len(args) > 1 else None)
    return _where(tr, torch.where, (mask, value, args[0]), {})


def _norm(channels_first: bool, scale: int, shift: int) -> Rule:
    """Normalisation is an affine map of each entry by convention: once trained, it folds away."""

    def rule(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        value = tr.keep(args[0].clone(), tr.kind(args[0]))
        for name, place in (("weight", scale), ("bias", shift)):
            extra = kwargs.get(name, args[place] if len(args) > place else None)
            if isinstance(extra, Tensor) and tr.kind(extra) == Kind.WEIGHT:
                if channels_first:
                    extra = extra.reshape(-1, *[1] * (value.ndim - 2))
                value = product(tr, torch.mul, value, extra) if name == "weight" else add(tr, value, extra)
        return value

    return rule


def _glu(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    halves = args[0].chunk(2, kwargs.get("dim", args[1] if len(args) > 1 else -1))
    return add(tr, *halves)


RULES: dict[str, Rule] = {
    **dict.fromkeys(_ZERO_STAYS, _pass(True)),
    **dict.fromkeys(_ZERO_MOVES, _pass(False)),
    **dict.fromkeys(_TERMS, _terms),
    **dict.fromkeys(["to", "cpu", "cuda", "type_as"], _convert),
    **dict.fromkeys(["add", "radd"], _add),
    **dict.fromkeys(["mul", "multiply", "rmul"], _times),
    **dict.fromkeys(["div", "divide", "true_divide", "truediv", "floordiv", "floor_divide"], _divide),
    **dict.fromkeys(["rdiv", "rtruediv", "rfloordiv"], _reversed(_divide)),
    **dict.fromkeys(["addcmul", "addcdiv"], _times_plus),
    "softmax": _softmax,
    "pow": _power,
    "where": _where,
    "masked_fill": _masked_fill,
    "glu": _glu,
    "batch_norm": _norm(True, 3, 4),
    "instance_norm": _norm(True, 3, 4),
    "group_norm": _norm(True, 2, 3),
    "layer_norm": _norm(False, 2, 3),
    "rms_norm": _norm(False, 2, 3),
}
