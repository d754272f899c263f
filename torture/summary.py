"""What the journal comes to: a line for the terminal, and the result file."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from torture.case import Case
from torture.journal import Journal

__all__ = ["GROUPS", "Summary", "summary", "summary_line"]

GROUPS = {
    "files": "mutated files",
    "kills": "kills",
    "engine": "engine cases",
    "frames": "hostile frames",
    "folders": "shared, full, read-only and removed folders",
    "studies": "kills of studies",
}
"""Group → what it counts, in words."""


@dataclass(frozen=True)
class Summary:
    """All groups that were asked for."""

    seed: int
    share: float
    trees: dict[str, int]
    groups: dict[str, dict[str, Any]]

    @property
    def failures(self) -> list[str]:
        """Every failure, a sentence each."""
        return [failure for group in self.groups.values() for failure in group["failures"]]

    @property
    def skipped(self) -> list[str]:
        """What this machine could not try, and why."""
        return [word for group in self.groups.values() for word in group["skipped"]]

    def as_json(self) -> str:
        """The result file."""
        return json.dumps({**vars(self), "machine": machine(), "versions": versions()}, indent=1) + "\n"


def summary(journal: Journal, planned: Mapping[str, Sequence[Case]], *, share: float = 1.0) -> Summary:
    """Counts of the planned cases that were tried; facts are the largest, or the sum where they say so."""
    groups, trees = {}, dict[str, int]()
    for group, cases in planned.items():
        lines = [line for case in cases if (line := journal.lines.get((group, case.name)))]
        for line in lines:
            trees[line["tree"]] = trees.get(line["tree"], 0) + 1
        groups[group] = {
            "cases": len(lines),
            "planned": len(cases),
            "count": sum(line["count"] for line in lines),
            "failures": [failure for line in lines for failure in line["failures"]],
            "skipped": [f"{line['name']}: {line['skipped']}" for line in lines if line["skipped"]],
            "seconds": round(sum(line["seconds"] for line in lines)),
            "facts": _facts([line["facts"] for line in lines]),
        }
    return Summary(journal.seed, share, trees, groups)


def _facts(lines: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The largest of each number, or its sum.

    >>> _facts([{"seconds": 1, "sum refused": 2}, {"seconds": 3, "sum refused": 5}])
    {'seconds': 3, 'refused': 7}
    """
    found: dict[str, float] = {}
    for facts in lines:
        for key, value in facts.items():
            name = key.removeprefix("sum ")
            found[name] = found.get(name, 0) + value if key != name else max(found.get(name, value), value)
    return found


def summary_line(groups: Mapping[str, Mapping[str, Any]]) -> str:
    """The last line of a torture.

    >>> summary_line({"files": {"count": 12345, "failures": []}, "kills": {"count": 230, "failures": ["a"]}})
    'torture: 12,345 mutated files, 230 kills: 1 failure'
    """
    tried = ", ".join(f"{found['count']:,} {GROUPS[group]}" for group, found in groups.items())
    failures = sum(len(found["failures"]) for found in groups.values())
    return f"torture: {tried}: {failures} failure{'' if failures == 1 else 's'}"


def machine() -> str:
    """What it ran on."""
    return f"{platform.machine()} {platform.system()} {platform.release().split('-')[0]}"


def versions() -> dict[str, str]:
    """Of everything that matters."""
    found = {"python": platform.python_version()}
    found |= {name: version(name) for name in ("torch", "numpy", "safetensors")}
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler):
            said = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=False)
            found[compiler] = said.stdout.strip()
    return found
