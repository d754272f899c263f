"""Settings of a run given by name in a plan, checked against the types of ``RunConfig``."""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

from bandstop.errors import BandstopError, ConfigError
from bandstop.training.config import RunConfig
from bandstop.training.presets import held, paper

__all__ = ["AXES", "PAPER_EPOCHS", "Layer", "parse_setting", "resolve"]

AXES = ("data", "method", "prior", "rate", "seed")
"""Fields of a run that are axes of a grid and so cannot be set elsewhere."""
_KNOWN: dict[type, dict[str, Any]] = {}
PAPER_EPOCHS = 2700
"""Length of training in the paper, the default of its preset."""

Layer = tuple[str, Mapping[str, Any]]
"""Where settings were found (for messages), and the settings, nested as in ``RunConfig``."""


def resolve(layers: Sequence[Layer], axes: Mapping[str, Any]) -> RunConfig:
    """The run that results from the defaults, or the preset that is asked for, changed by each layer and the axes.

    >>> config = resolve([("plan.toml: [base]", {"epochs": 5, "prune": {"kl": 1}})], {"rate": 0.9})
    >>> config.epochs, config.prune.kl, config.rate
    (5, 1.0, 0.9)
    >>> resolve([("plan.toml: [base]", {"prune": {"gait": "soft"}})], {})
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: plan.toml: [base] prune.gait is not a setting of a run; did you mean prune.gate?
    """
    config = RunConfig()
    presets = [settings["preset"] for _, settings in layers if "preset" in settings]
    if presets and presets[-1] == "paper":
        config = paper(dataclasses.replace(config, epochs=PAPER_EPOCHS))
    elif presets and presets[-1] == "held":
        config = held(config)
    for where, settings in layers:
        for name in AXES:
            if name in settings:
                raise ConfigError(f"{where} {name} is an axis: give it in a [[grid]], not as a setting")
        config = _changed(config, settings, where, "")
    where = layers[-1][0] if layers else "run"
    built: RunConfig = _changed(config, {k: v for k, v in axes.items() if v is not None}, where, "")
    return built


def parse_setting(text: str) -> dict[str, Any]:
    """Nested settings from ``name=value`` on a command line; the value is read as in a plan, or else as plain text.

    >>> parse_setting("prune.kl=0.5"), parse_setting("prune.gate=hard")
    ({'prune': {'kl': 0.5}}, {'prune': {'gate': 'hard'}})
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"--set needs NAME=VALUE, for instance --set epochs=20, found {text!r}")
    try:
        parsed: Any = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value
    for part in reversed(name.strip().split(".")):
        parsed = {part: parsed}
    nested: dict[str, Any] = parsed
    return nested


def _changed(config: Any, settings: Mapping[str, Any], where: str, prefix: str) -> Any:
    hints = _hints(type(config))
    changes = {}
    for name, value in settings.items():
        full = f"{prefix}{name}"
        if name not in hints:
            close = difflib.get_close_matches(name, hints, n=1)
            remedy = f"did you mean {prefix}{close[0]}?" if close else f"choose one of {', '.join(hints)}"
            raise ConfigError(f"{where} {full} is not a setting of a run; {remedy}")
        present = getattr(config, name)
        if dataclasses.is_dataclass(present):
            if not isinstance(value, Mapping):
                raise ConfigError(
                    f"{where} {full} holds settings of its own: write {full}.NAME = VALUE, found {value!r}"
                )
            changes[name] = _changed(present, value, where, f"{full}.")
        else:
            changes[name] = _checked(value, hints[name], f"{where} {full}")
    try:
        return dataclasses.replace(config, **changes)
    except BandstopError as error:
        raise ConfigError(f"{where}: {error}") from None


def _hints(kind: type) -> dict[str, Any]:
    """Types of a dataclass's fields; kept, because finding them is what takes time in a large plan."""
    if kind not in _KNOWN:
        _KNOWN[kind] = typing.get_type_hints(kind)
    return _KNOWN[kind]


def _checked(value: Any, hint: Any, where: str) -> Any:
    """``value`` as the type ``hint``; hints of other shapes than those below are left to the run itself."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        kinds = [a for a in arguments if a is not type(None)]
        return _checked(value, kinds[0], where) if len(kinds) == 1 else value
    if origin is Literal:
        if value not in arguments:
            raise ConfigError(f"{where} must be one of {', '.join(map(str, arguments))}, found {value!r}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ConfigError(f"{where} must be a list, found {value!r}")
        kinds = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else list(arguments)
        if len(kinds) != len(value):
            raise ConfigError(f"{where} must hold {len(kinds)} values, found {len(value)}")
        return tuple(_checked(v, k, where) for v, k in zip(value, kinds, strict=True))
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    wanted = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
    if hint in wanted and (not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool)):
        raise ConfigError(f"{where} must be {wanted[hint]}, found {value!r}")
    return value
