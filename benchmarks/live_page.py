"""The table of docs/live.md from benchmarks/results/live.json: ``python benchmarks/live_page.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bandstop.files import write_text

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- live-table: made by benchmarks/live_page.py -->\n", "<!-- /live-table -->"
HEAD = (
    "| streams | network | connections | gestures | found | false alarms per minute | Jaccard index "
    "| delay, median | delay, 90 % |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n"
)


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown of the rows; figures are means over seeds."""
    lines = []
    for row in rows:
        found, rate = row["test"], row["frames_per_second"]
        network = f"{100 * row['rate']:g} % pruned" if row["rate"] else "dense"
        seeds = len(row["runs"])
        lines.append(
            f"| {row['data']}, {found['minutes']:.0f} min "
            f"| {network}, {seeds} seed{'s' if seeds > 1 else ''} "
            f"| {row['runs'][0]['connections']:,} | {found['gestures']:.0f} "
            f"| {100 * found['detection_rate']:.1f} % "
            f"| {found['false_alarms_per_minute']:.2f} | {found['jaccard_index']:.2f} "
            f"| {found['delay_frames'] / rate:.2f} s | {found['delay_frames_90'] / rate:.2f} s |\n"
        )
    return HEAD + "".join(lines)


def page(text: str, rows: list[dict[str, Any]]) -> str:
    """``text`` with the table put between its marks."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + table(rows) + END + rest.split(END, 1)[1]


def main() -> None:
    """Rewrite the page."""
    path = ROOT / "docs" / "live.md"
    rows = json.loads((ROOT / "benchmarks" / "results" / "live.json").read_text(encoding="utf-8"))["rows"]
    write_text(path, page(path.read_text(encoding="utf-8"), rows))


if __name__ == "__main__":
    main()
