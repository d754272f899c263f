"""Whether two folders hold the same: byte for byte, but for times that a clock says."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["contents", "difference"]

_CLOCK = re.compile(rb'("(?:\w+_)?seconds": |Training time</th><td>)[^<,}\n]+')
_TEXT = (".json", ".jsonl", ".html", ".csv")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder`` by its name, hidden ones and empty folders too; times are left out."""
    found = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        name = str(path.relative_to(folder))
        if path.is_dir():
            found[f"{name}/"] = b""
        else:
            data = path.read_bytes()
            found[name] = _CLOCK.sub(rb"\1?", data) if path.suffix in _TEXT else data
    return found


def difference(found: dict[str, bytes], wanted: dict[str, bytes]) -> str:
    """The first difference in words; nothing if there is none.

    >>> difference({"a": b"1", ".a.x": b""}, {"a": b"1"})
    'a file is left behind: .a.x'
    """
    if left := sorted(found.keys() - wanted.keys()):
        return f"a file is left behind: {left[0]}"
    if missing := sorted(wanted.keys() - found.keys()):
        return f"a file is missing: {missing[0]}"
    for name, data in wanted.items():
        if found[name] != data:
            place = next((i for i, (a, b) in enumerate(zip(data, found[name], strict=False)) if a != b), -1)
            near = slice(max(0, place - 30), place + 30)
            return f"{name} differs at byte {place}: {found[name][near]!a} for {data[near]!a}"
    return ""
