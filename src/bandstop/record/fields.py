"""Fields of a settings class that know their range or their choices."""

from __future__ import annotations

import dataclasses
import math
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from bandstop.errors import ConfigError
from bandstop.record.typed_json import field_types

__all__ = ["check_fields", "number"]


def number(default: float | None, low: float, high: float = math.inf, *, above: bool = False) -> Any:
    """A field that must lie in [low, high], or in (low, high] if it must be ``above`` the lower end.

    None is allowed where it is the default.
    """
    return dataclasses.field(default=default, metadata={"low": low, "high": high, "above": above})


def check_fields(settings: Any, prefix: str = "") -> None:
    """Refuse a field of the dataclass ``settings`` that is out of its range, or none of those its type lists.

    >>> @dataclasses.dataclass
    ... class Size:
    ...     width: float = number(3, 0, 10, above=True)
    >>> check_fields(Size(width=0), "net.")
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: net.width must be in (0, 10], found 0
    """
    hints = field_types(type(settings))
    for field in dataclasses.fields(settings):
        value, rule, choices = getattr(settings, field.name), field.metadata, _choices(hints[field.name])
        if choices and value not in choices:
            words = ", ".join(str(word) for word in choices if word is not None)
            raise ConfigError(f"{prefix}{field.name} must be one of {words}, found {value!r}")
        if value is None and field.default is None:
            continue
        if "low" in rule and not _inside(value, rule["low"], rule["high"], rule["above"]):
            raise ConfigError(f"{prefix}{field.name} must be {_bounds(**rule)}, found {value!r}")


def _choices(hint: Any) -> tuple[Any, ...]:
    """The values that a ``Literal``, or one beside None, allows; none for any other type."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) in (Union, UnionType) and all(
        part is NoneType or _choices(part) for part in get_args(hint)
    ):
        return tuple(value for part in get_args(hint) for value in (_choices(part) or (None,)))
    return ()


def _inside(value: Any, low: float, high: float, above: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, float) and not math.isfinite(value):  # a whole number may be too large for a float
        return False
    return (low < value if above else low <= value) and value <= high


def _bounds(low: float, high: float, above: bool) -> str:
    if high == math.inf:
        return f"more than {low}" if above else f"at least {low}"
    return f"in {'(' if above else '['}{low}, {high}]"
