"""The one checker of typed values: JSON and TOML against the types of frozen dataclasses."""

from __future__ import annotations

import dataclasses
import json
import sys
import types
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from bandstop.errors import BandstopError, BudgetError, ConfigError, DataError

__all__ = ["build", "checked", "field_types", "from_file", "read_object", "read_object_lines"]

T = TypeVar("T")
_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", type(None): "null"}
_LARGEST = int(sys.float_info.max)
_KNOWN: dict[Any, dict[str, Any]] = {}
_REMEDY = "write the run again with 'bandstop train', or restore the file"


def build(kind: type[T], values: Any, where: str = "", *, strict: bool = True) -> T:
    """An instance of the dataclass ``kind`` from a JSON object; fields that are missing keep their defaults.

    ``where`` stands before the name of a field in a message. Unknown fields are refused if ``strict``, and
    passed over if not.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Size:
    ...     width: int = 3
    >>> build(Size, {"width": 4}, "size")
    Size(width=4)
    >>> build(Size, {"width": "4"}, "size")
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: size.width must be a whole number, found '4'
    >>> build(Size, {"width": None, "colour": 1}, strict=False)
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: 'width' must be a whole number, found nothing
    """
    if not isinstance(values, dict):
        raise ConfigError(
            f"{where or 'the file'} must be an object, found {_WORDS.get(type(values), 'a list')}"
        )
    hints = field_types(kind)
    if strict and (unknown := set(values) - set(hints)):
        raise ConfigError(f"{where} has unknown fields {sorted(unknown)}; it was written by another version")
    given = {
        name: checked(values[name], hint, _name(where, name), strict=strict)
        for name, hint in hints.items()
        if name in values
    }
    required = [f.name for f in dataclasses.fields(kind) if _required(f) and f.name not in given]  # type: ignore[arg-type]
    if required:
        raise ConfigError(f"{_name(where, required[0])} must be {_wanted(hints[required[0]])}, found nothing")
    try:
        return kind(**given)
    except BudgetError as error:
        raise ConfigError(f"{where} cannot be: {error}") from None


def checked(value: Any, hint: Any, name: str, *, strict: bool = True) -> Any:
    """``value`` as the type ``hint`` wants it (lists become tuples, whole numbers floats), or a refusal.

    >>> checked([1, 2], tuple[float, ...], "sizes")
    (1.0, 2.0)
    >>> checked("hot", Literal["soft", "hard"], "gate")
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: gate must be one of soft, hard, found 'hot'
    """
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin is Annotated:
        return checked(value, inner[0], name, strict=strict)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return build(hint, value, name, strict=strict)
    if origin in (Union, types.UnionType):
        return _option(value, inner, hint, name, strict)
    if origin is tuple:
        return _tuple(value, inner, name, strict)
    if origin is dict:
        if not isinstance(value, dict):
            raise ConfigError(f"{name} must be an object, found {shown(value)}")
        return {str(key): checked(v, inner[1], f"{name}.{key}", strict=strict) for key, v in value.items()}
    if origin is Literal:
        fits = any(value == choice and type(value) is type(choice) for choice in inner)
    else:
        fits = isinstance(value, int | float if hint is float else hint)
        fits = fits and (hint is bool or not isinstance(value, bool))
        fits = fits and not (hint is float and abs(value) > _LARGEST)
    if not fits:
        raise ConfigError(f"{name} must be {_wanted(hint)}, found {shown(value)}")
    return float(value) if hint is float else value


def _option(value: Any, options: tuple[Any, ...], hint: Any, name: str, strict: bool) -> Any:
    """The first of several types that fits; what is wrong inside an object is said as it is."""
    if value is None and type(None) in options:
        return None
    rest = [option for option in options if option is not type(None)]
    if len(rest) == 1 and not _simple(rest[0]):
        return checked(value, rest[0], name, strict=strict)
    for option in rest:
        try:
            return checked(value, option, name, strict=strict)
        except ConfigError:
            continue
    raise ConfigError(f"{name} must be {_wanted(hint)}, found {shown(value)}")


def _tuple(value: Any, inner: tuple[Any, ...], name: str, strict: bool) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"{name} must be a list, found {shown(value)}")
    kinds = [inner[0]] * len(value) if inner[1:] == (...,) else list(inner)
    if len(kinds) != len(value):
        raise ConfigError(f"{name} must hold {len(kinds)} values, found {len(value)}")
    places = enumerate(zip(value, kinds, strict=True))
    return tuple(checked(v, kind, _inside(name, place), strict=strict) for place, (v, kind) in places)


def _simple(hint: Any) -> bool:
    return hint in _WORDS or get_origin(hint) is Literal


def _wanted(hint: Any) -> str:
    """A type in words.

    >>> _wanted(float | None), _wanted(Literal["a", "b"])
    ('a number or null', 'one of a, b')
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _wanted(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(map(_wanted, inner))
    if origin is Literal:
        return f"one of {', '.join(map(str, inner))}"
    if origin is tuple:
        return "a list"
    return _WORDS.get(hint, "an object")


def _name(where: str, field: str) -> str:
    """``where.field``; at the top of a file the field in quotes, at any depth the quotes around the whole."""
    if where.startswith("'"):
        return f"{where[:-1]}.{field}'"
    return f"{where}.{field}" if where else f"'{field}'"


def _inside(name: str, place: int) -> str:
    return f"{name[:-1]}[{place}]'" if name.startswith("'") else f"{name}[{place}]"


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def field_types(kind: Any) -> dict[str, Any]:
    """The types of a dataclass's fields; kept, because finding them is what takes time."""
    if kind not in _KNOWN:
        hints = get_type_hints(kind)
        _KNOWN[kind] = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    return _KNOWN[kind]


def shown(value: object) -> str:
    """A value as a message shows it, cut if it is long."""
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


def from_file(kind: type[T], path: Path) -> T:
    """The dataclass ``kind`` from a file that holds one JSON object; every refusal names the file.

    Fields that a newer version may have added are passed over.
    """
    try:
        return build(kind, read_object(path), strict=False)
    except DataError:
        raise
    except BandstopError as error:
        raise DataError(str(error), path=path) from None


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; a number that is not finite is read as null."""
    return _object(_text(path), path, None)


def read_object_lines(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file that holds one per line, each with its line; blank lines are passed over."""
    lines = enumerate(_text(path).splitlines(), start=1)
    return [(line, _object(text, path, line)) for line, text in lines if text.strip()]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        problem = "a finished run folder must hold this file and it is not there"
        raise DataError(problem, path=path, hint=_REMEDY) from None
    except UnicodeDecodeError:
        raise DataError("must be UTF-8 text and is not", path=path, hint=_REMEDY) from None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path=path) from None


def _object(text: str, path: Path, line: int | None) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=lambda constant: None)
    except json.JSONDecodeError as error:
        where = line if line is not None else error.lineno
        raise DataError(f"is not valid JSON ({error.msg})", path=path, line=where, hint=_REMEDY) from None
    except (RecursionError, ValueError):
        problem = "is not valid JSON (nested too deep or a number too long)"
        raise DataError(problem, path=path, line=line) from None
    if not isinstance(value, dict):
        raise DataError(f"must hold a JSON object, found {shown(value)}", path=path, line=line, hint=_REMEDY)
    return value
