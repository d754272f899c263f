"""JSON objects read with care: values are asked for by name and kind, refusals name the file and the key."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bandstop.errors import DataError

__all__ = ["Record", "read_object", "read_object_lines"]

_AGAIN = "write the run again with 'bandstop train', or restore the file"


@dataclass(frozen=True)
class Record:
    """One JSON object and where it came from.

    >>> Record({"seed": 3, "rate": None}, Path("metrics.json")).number("seed")
    3.0
    >>> Record({"seed": "x"}, Path("metrics.json")).number("seed")
    Traceback (most recent call last):
        ...
    bandstop.errors.DataError: metrics.json: 'seed' must be a finite number, found 'x'
    """

    values: dict[str, Any]
    path: Path
    line: int | None = None

    def refuse(self, problem: str) -> DataError:
        """An error that says where."""
        return DataError(problem, path=self.path, line=self.line)

    def maybe_number(self, key: str) -> float | None:
        """A number, or None when the key is absent, null or not finite."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(f"'{key}' must be a number or null, found {_shown(value)}")
        return float(value) if math.isfinite(value) else None

    def number(self, key: str) -> float:
        """A finite number."""
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.refuse(f"'{key}' must be a finite number, found {_shown(value)}")
        return float(value)

    def percentage(self, key: str) -> float:
        """A number between 0 and 100, given back as a fraction."""
        value = self.number(key)
        if not 0 <= value <= 100:
            raise self.refuse(f"'{key}' must be a percentage between 0 and 100, found {_shown(value)}")
        return value / 100

    def count(self, key: str) -> int:
        """A whole number, zero or more."""
        value = self.number(key)
        if value < 0 or value != int(value):
            raise self.refuse(f"'{key}' must be a whole number of 0 or more, found {_shown(value)}")
        return int(value)

    def text(self, key: str, default: str | None = None) -> str:
        """A string; an absent or null one is ``default`` if that is given."""
        value = self.values.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self.refuse(f"'{key}' must be a text, found {_shown(value)}")
        return value

    def items(self, key: str) -> list[Any]:
        """A list."""
        value = self.values.get(key)
        if not isinstance(value, list):
            raise self.refuse(f"'{key}' must be a list, found {_shown(value)}")
        return value

    def numbers(self, key: str) -> list[float]:
        """A list of finite numbers."""
        values = self.items(key)
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise self.refuse(f"'{key}' must hold finite numbers only, found {_shown(value)}")
        return [float(value) for value in values]

    def part(self, key: str) -> Record:
        """A nested object."""
        return self._nested(key, self.values.get(key))

    def parts(self, key: str) -> list[Record]:
        """A list of nested objects."""
        return [self._nested(f"{key}[{place}]", value) for place, value in enumerate(self.items(key))]

    def _nested(self, key: str, value: Any) -> Record:
        if not isinstance(value, dict):
            raise self.refuse(f"'{key}' must be an object, found {_shown(value)}")
        return Record(value, self.path, self.line)


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


def read_object(path: Path) -> Record:
    """Read a file that holds one JSON object."""
    return Record(_object(_read(path), path, None), path)


def read_object_lines(path: Path) -> list[Record]:
    """Read a file that holds one JSON object a line; blank lines are skipped."""
    lines = enumerate(_read(path).splitlines(), start=1)
    return [Record(_object(text, path, line), path, line) for line, text in lines if text.strip()]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(
            "a run folder must hold this file and it is not there", path=path, hint=_AGAIN
        ) from None
    except UnicodeDecodeError:
        raise DataError("must be UTF-8 text and is not", path=path, hint=_AGAIN) from None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path=path) from None


def _object(text: str, path: Path, line: int | None) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        where = line if line is not None else error.lineno
        raise DataError(f"is not valid JSON ({error.msg})", path=path, line=where, hint=_AGAIN) from None
    except (RecursionError, ValueError):
        raise DataError(
            "is not valid JSON (nested too deep or a number too long)", path=path, line=line
        ) from None
    if not isinstance(value, dict):
        raise DataError(f"must hold a JSON object, found {_shown(value)}", path=path, line=line, hint=_AGAIN)
    return value
