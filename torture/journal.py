"""What was tried and what came of it, a line per case: a torture that was killed goes on after it."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from torture.case import Case, Result

__all__ = ["Journal", "tree_digest"]


def tree_digest(*folders: Path) -> str:
    """Which sources were tried: a short hash of all files below ``folders`` that Python or C reads."""
    found = sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                found.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


class Journal:
    """Lines ``{"group", "name", "seed", "tree", "count", "failures", …}``; the last line of a case counts.

    A line that a killed process wrote in half is passed over, and so are other seeds and, unless ``keep``,
    other trees.
    """

    def __init__(self, path: Path, *, seed: int, tree: str, keep: bool = False) -> None:
        self.path, self.seed, self.tree = path, seed, tree
        self.lines: dict[tuple[str, str], dict[str, Any]] = {}
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        self._whole = text.endswith("\n") or not text
        for line in text.splitlines():
            try:
                found = json.loads(line)
                same = found["seed"] == seed and (keep or found["tree"] == tree)
                if same:
                    self.lines[found["group"], found["name"]] = found
            except (ValueError, KeyError, TypeError):
                continue

    def done(self, case: Case) -> bool:
        """Whether the case was tried and nothing went wrong; what failed or was skipped is tried again."""
        line = self.lines.get((case.group, case.name))
        return line is not None and not line["failures"] and not line["skipped"]

    def add(self, case: Case, result: Result, seconds: float) -> None:
        """One more line."""
        line = {
            "group": case.group,
            "name": case.name,
            "seed": self.seed,
            "tree": self.tree,
            "count": result.count,
            "failures": list(result.failures),
            "skipped": result.skipped,
            "facts": result.facts,
            "seconds": round(seconds, 3),
        }
        self.lines[case.group, case.name] = line
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as journal:
            journal.write(("" if self._whole else "\n") + json.dumps(line) + "\n")
        self._whole = True
