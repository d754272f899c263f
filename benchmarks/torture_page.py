"""The table of docs/reliability.md from its result file: ``python benchmarks/torture_page.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bandstop.files import write_text

ROOT = Path(__file__).resolve().parent.parent
RESULT, PAGE = ROOT / "benchmarks" / "results" / "torture.json", ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- torture: made by benchmarks/torture_page.py -->\n", "<!-- /torture -->"
NAMES = {
    "files": "mutated files",
    "kills": "kills of commands",
    "engine": "engine cases",
    "frames": "hostile frames",
    "folders": "folders in trouble",
    "studies": "kills of studies and their workers",
}


def section(found: dict[str, Any]) -> str:
    """Markdown of a result: a row per group, then machine, versions, seed and what was not tried."""
    lines = ["| what | asked | tried | cases | failures |", "|---|---:|---:|---:|---:|"]
    asked = {"files": "10,000", "kills": "200", "engine": "500", "frames": "1,000,000 a form"}
    for group, name in NAMES.items():
        if (row := found["groups"].get(group)) is None:
            lines.append(f"| {name} | {asked.get(group, '')} | not yet | | |")
            continue
        cases = f"{row['cases']:,} of {row['planned']:,}"
        count, failures = f"{row['count']:,}", len(row["failures"])
        lines.append(f"| {name} | {asked.get(group, '')} | {count} | {cases} | {failures} |")
    return "\n".join([*lines, "", _where(found), *_facts(found), *_left_out(found)]) + "\n"


def _where(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    trees = len(found["trees"])
    made = "one tree" if trees == 1 else f"{trees} states of the tree while it was mended"
    return f"Seed {found['seed']}; {found['machine']}; {versions}; on {made}."


def _facts(found: dict[str, Any]) -> list[str]:
    files, engine = (found["groups"].get(group, {}).get("facts", {}) for group in ("files", "engine"))
    said = []
    if files:
        said.append(
            f"{files['refused']:,} files were refused, the dearest of all in {files['seconds']:.2f} s of the "
            f"processor and {files['megabytes']:.0f} MB; the others were read."
        )
    if engine:
        said.append(f"{engine['exact']:,} engine cases were exact, {engine['refused']:,} refused.")
    return said


def _left_out(found: dict[str, Any]) -> list[str]:
    lines = [f"- skipped: {word}" for group in found["groups"].values() for word in group["skipped"]]
    lines += [f"- failed: {word}" for group in found["groups"].values() for word in group["failures"]]
    return ["", *lines] if lines else []


def page(text: str, found: dict[str, Any]) -> str:
    """``text`` with the section put between its marks."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + section(found) + END + rest.split(END, 1)[1]


def main() -> None:
    """Rewrite the page."""
    found = json.loads(RESULT.read_text(encoding="utf-8"))
    write_text(PAGE, page(PAGE.read_text(encoding="utf-8"), found))


if __name__ == "__main__":
    main()
