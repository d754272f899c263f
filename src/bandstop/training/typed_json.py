"""Building frozen dataclasses from JSON, with every wrong field, type or choice named."""

from __future__ import annotations

import dataclasses
import types
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from bandstop.errors import ConfigError

__all__ = ["build", "in_range"]

T = TypeVar("T")


def build(kind: type[T], values: Any, where: str) -> T:
    """An instance of the dataclass ``kind`` from a JSON object; fields that are missing keep their defaults.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Size:
    ...     width: int = 3
    >>> build(Size, {"width": 4}, "size")
    Size(width=4)
    >>> build(Size, {"width": "4"}, "size")
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: size.width must be int, found '4'
    """
    if not isinstance(values, dict):
        raise ConfigError(f"{where} must be an object, found {type(values).__name__}")
    hints = get_type_hints(kind, include_extras=False)
    if unknown := set(values) - set(hints):
        raise ConfigError(f"{where} has unknown fields {sorted(unknown)}; it was written by another version")
    return kind(**{name: _value(value, hints[name], f"{where}.{name}") for name, value in values.items()})


def _value(value: Any, hint: Any, where: str) -> Any:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return build(hint, value, where)
    fitted = _fit(value, hint)
    if fitted is _MISFIT:
        wanted = getattr(hint, "__name__", str(hint)).replace("typing.", "")
        choices = get_args(hint) if get_origin(hint) is Literal else ()
        rule = f"one of {', '.join(map(str, choices))}" if choices else wanted
        raise ConfigError(f"{where} must be {rule}, found {value!r}")
    return fitted


_MISFIT = object()


def _fit(value: Any, hint: Any) -> Any:
    """``value`` as ``hint`` wants it (lists become tuples, whole numbers floats), or _MISFIT."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin is Annotated:
        return _fit(value, inner[0])
    if origin in (Union, types.UnionType):
        return next((f for f in (_fit(value, option) for option in inner) if f is not _MISFIT), _MISFIT)
    if origin is Literal:
        return value if value in inner else _MISFIT
    if hint is type(None):
        return None if value is None else _MISFIT
    if origin is tuple:
        kinds = [inner[0]] * len(value) if isinstance(value, list) and inner[1:] == (...,) else list(inner)
        if not isinstance(value, list) or len(kinds) != len(value):
            return _MISFIT
        fitted = tuple(_fit(v, k) for v, k in zip(value, kinds, strict=True))
        return _MISFIT if any(f is _MISFIT for f in fitted) else fitted
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return value
    matches = isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
    return value if matches else _MISFIT


def in_range(owner: object, where: str, **bounds: tuple[float, float]) -> None:
    """Refuse settings of ``owner`` outside their closed bounds (a number that is not finite is never inside).

    >>> in_range(types.SimpleNamespace(lr=-1.0), "optim", lr=(0.0, 1.0))
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: optim.lr must be between 0 and 1, found -1.0
    """
    for name, (low, high) in bounds.items():
        found = getattr(owner, name)
        if found is not None and not low <= found <= high:
            raise ConfigError(f"{where}.{name} must be between {low:g} and {high:g}, found {found}")
