"""Hyper-parameters of the rivals: frozen, checked, and overridden by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from bandstop.errors import ConfigError
from bandstop.record.fields import check_fields, number

__all__ = ["Rule", "Settings", "number", "override"]

S = TypeVar("S", bound="Settings")


Rule = Literal["learned", "uniform", "erk", "lamp"]
"""How layers share the budget (see ``bandstop.engine.select.allocation``)."""


@dataclass(frozen=True)
class Settings:
    """What every rival can be told.

    >>> Settings(floor=-1)
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: floor must be at least 0, found -1
    """

    floor: int = number(1, 0)
    """Fewest connections that any layer keeps; 0 allows empty layers."""

    def __post_init__(self) -> None:
        check_fields(self)


def override(defaults: S, changes: Mapping[str, Any] | None, method: str) -> S:
    """The published settings with some of them changed; texts become the type of what they replace.

    >>> override(Settings(), {"floor": "3"}, "gmp")
    Settings(floor=3)
    >>> override(Settings(), {"flor": 3}, "gmp")
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: gmp has no setting 'flor'; it has: floor
    """
    known = {field.name for field in dataclasses.fields(defaults)}
    made = {}
    for name, value in (changes or {}).items():
        if name not in known:
            raise ConfigError(f"{method} has no setting {name!r}; it has: {', '.join(sorted(known))}")
        made[name] = _as(type(getattr(defaults, name)), value, f"{method}'s {name}")
    return dataclasses.replace(defaults, **made)


def _as(kind: type, value: Any, where: str) -> Any:
    if kind is bool:
        said = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
        if str(value).lower() in said:
            return said[str(value).lower()]
    elif kind is str:
        return str(value)
    else:
        try:
            return (
                kind(value)
                if kind(value) == float(value) and not isinstance(value, bool)
                else _refuse(kind, value, where)
            )
        except (TypeError, ValueError):
            pass
    return _refuse(kind, value, where)


def _refuse(kind: type, value: Any, where: str) -> Any:
    wanted = {bool: "true or false", int: "a whole number"}.get(kind, "a number")
    raise ConfigError(f"{where} must be {wanted}, found {value!r}")
