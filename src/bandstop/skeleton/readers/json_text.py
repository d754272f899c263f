"""JSON of unknown origin: what parsing it would cost is estimated before it is parsed."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from bandstop.errors import DataError
from bandstop.skeleton.limits import RAISE, allowed
from bandstop.skeleton.readers.files import reason

__all__ = ["line_of_element", "number_of", "parse_json"]

_MOST_BYTES = 128 * 2**20
_OBJECT, _LIST, _VALUE = 184, 88, 40


def parse_json(text: str, path: Path, *, line: int = 1) -> Any:
    """The value of ``text``, which begins in ``line`` of ``path``; refused if it would take much memory.

    >>> parse_json('{"a": [1, 2.5]}', Path("a.json"))
    {'a': [1, 2.5]}
    """
    cost = _OBJECT * text.count("{") + _LIST * text.count("[") + _VALUE * text.count(",")
    if cost > allowed(_MOST_BYTES):
        raise DataError("takes too much memory to parse", path=path, line=line, hint=RAISE)
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise DataError(f"not JSON ({problem.msg})", path=path, line=line + problem.lineno - 1) from problem
    except (ValueError, RecursionError) as problem:
        raise DataError(f"not usable JSON ({reason(problem)})", path=path, line=line) from problem


def number_of(value: Any) -> float:
    """A coordinate: null is not-a-number; ``ValueError`` if it is no number at all."""
    if value is None:
        return math.nan
    if type(value) not in (int, float):
        raise ValueError(f"a coordinate must be a number, found {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def line_of_element(text: str, key: str | None, number: int) -> int:
    """The line where element ``number`` of the list under ``key`` begins (slow: only for a complaint)."""
    start = re.search(r"\[" if key is None else rf'"{key}"\s*:\s*\[', text)
    depth, seen, end = 0, 0, 0
    position = start.end() if start else 0
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|[\[\]{},]', text[position:]):
        if seen == number:
            break
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] == "," and depth == 0:
            seen += 1
            end = token.end()
    position += end
    position += len(text[position:]) - len(text[position:].lstrip())
    return text.count("\n", 0, position) + 1
