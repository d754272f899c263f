"""Settings of a run given by name in a plan, checked against the types of ``RunConfig``."""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from bandstop.errors import BandstopError, ConfigError
from bandstop.record.typed_json import checked, field_types
from bandstop.training.config import RunConfig
from bandstop.training.presets import starting_config

__all__ = ["AXES", "Layer", "parse_setting", "resolve"]

AXES = ("data", "method", "prior", "rate", "seed")
"""Fields of a run that are axes of a grid and so cannot be set elsewhere."""

Layer = tuple[str, Mapping[str, Any]]
"""Where settings were found (for messages), and the settings, nested as in ``RunConfig``."""


def resolve(layers: Sequence[Layer], axes: Mapping[str, Any]) -> RunConfig:
    """The run that results from the defaults, or those of a preset, changed by each layer and the axes.

    >>> config = resolve([("plan.toml: [base]", {"epochs": 5, "prune": {"kl": 1}})], {"rate": 0.9})
    >>> config.epochs, config.prune.kl, config.rate
    (5, 1.0, 0.9)
    >>> resolve([("[base]", {"prune": {"gait": "soft"}})], {})
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: [base] prune.gait is not a setting of a run; did you mean prune.gate?
    """
    last: dict[str, Any] = {}
    for _, settings in layers:
        last |= {name: settings[name] for name in ("preset", "rates") if name in settings}
    config = starting_config(last.get("preset"), rates=last.get("rates") is not None)
    for where, settings in layers:
        for name in AXES:
            if name in settings:
                raise ConfigError(f"{where} {name} is an axis: give it in a [[grid]], not as a setting")
        config = _changed(config, settings, where, "")
    where = layers[-1][0] if layers else "run"
    built: RunConfig = _changed(config, {k: v for k, v in axes.items() if v is not None}, where, "")
    return built


def parse_setting(text: str) -> dict[str, Any]:
    """Nested settings from ``name=value`` on a command line; the value is read as in a plan, or as text.

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
    hints = field_types(type(config))
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
            changes[name] = checked(value, hints[name], f"{where} {full}")
    try:
        return dataclasses.replace(config, **changes)
    except BandstopError as error:
        raise ConfigError(f"{where}: {error}") from None
