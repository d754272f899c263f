"""Hyper-parameters of the rivals: frozen, checked, and overridden by name."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from bandstop.engine.select.allocation import ALLOCATIONS
from bandstop.errors import ConfigError

__all__ = ["Settings", "number", "override", "rule"]

S = TypeVar("S", bound="Settings")


def number(default: float, low: float, high: float = math.inf) -> Any:
    """A dataclass field that must lie in [low, high]; a whole number if its default is one."""
    return dataclasses.field(default=default, metadata={"low": low, "high": high})


def rule(default: str) -> Any:
    """A dataclass field that names how layers share the budget (see ``bandstop.engine.select.allocation``)."""
    return dataclasses.field(
        default=default, metadata={"choices": tuple(r for r in ALLOCATIONS if r != "given")}
    )


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
        for field in dataclasses.fields(self):
            value, limits = getattr(self, field.name), field.metadata
            if "choices" in limits and value not in limits["choices"]:
                raise ConfigError(
                    f"{field.name} must be one of {', '.join(limits['choices'])}, found {value!r}"
                )
            if "low" in limits and not limits["low"] <= value <= limits["high"]:
                bounds = (
                    f"at least {limits['low']}"
                    if limits["high"] == math.inf
                    else f"in [{limits['low']}, {limits['high']}]"
                )
                raise ConfigError(f"{field.name} must be {bounds}, found {value}")


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
