"""The table of docs/live.md from benchmarks/results/live.json: ``python benchmarks/live_page.py``."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

from bandstop.files import write_text

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- live-table: made by benchmarks/live_page.py -->\n", "<!-- /live-table -->"
HEAD = (
    "| streams | network | connections | gestures | found | false alarms per minute | Jaccard index "
    "| delay, median | delay, 90 % |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n"
)

COST_BEGIN, COST_END = "<!-- live-cost: made by benchmarks/live_page.py -->\n", "<!-- /live-cost -->"
COST_HEAD = (
    "| C | instructions per frame, mean | in a frame with a look | RAM, bytes | flash, bytes |\n"
    "|---|---:|---:|---:|---:|\n"
)


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown of the rows; figures are means over seeds."""
    lines = []
    for row in rows:
        network = f"{100 * row['rate']:g} % pruned" if row["rate"] else "dense"
        seeds = len(row["runs"])
        lines.append(_line(row, f"{network}, {seeds} seed{'s' if seeds > 1 else ''}", row["test"]))
        for number in row["runs"][0].get("fixed_point", {}):
            found = [run["fixed_point"][number] for run in row["runs"]]
            means = {key: mean(one[key] for one in found) for key in found[0]}
            lines.append(_line(row, f"the same in {number}", means))
    return HEAD + "".join(lines)


def _line(row: dict[str, Any], network: str, found: dict[str, float]) -> str:
    rate = row["frames_per_second"]
    return (
        f"| {row['data']}, {found['minutes']:.0f} min | {network} "
        f"| {row['runs'][0]['connections']:,} | {found['gestures']:.0f} "
        f"| {100 * found['detection_rate']:.1f} % "
        f"| {found['false_alarms_per_minute']:.2f} | {found['jaccard_index']:.2f} "
        f"| {found['delay_frames'] / rate:.2f} s | {found['delay_frames_90'] / rate:.2f} s |\n"
    )


def cost_table(cost: dict[str, Any]) -> str:
    """Markdown of what a frame costs in each form of the C."""
    lines = []
    for form, found in cost.items():
        if form == "network":
            continue
        mean_time, most_time = found["mean_milliseconds"], found["most_milliseconds"]
        lines.append(
            f"| {form} | {found['mean_instructions']:,} ({mean_time:.2f} ms) "
            f"| {found['most_instructions']:,} ({most_time:.2f} ms) "
            f"| {found['ram_bytes']:,} | {found['flash_bytes']:,} |\n"
        )
    return COST_HEAD + "".join(lines)


def _between(text: str, begin: str, end: str, made: str) -> str:
    before, rest = text.split(begin)
    return before + begin + made + end + rest.split(end, 1)[1]


def page(text: str, rows: list[dict[str, Any]], cost: dict[str, Any]) -> str:
    """``text`` with the tables put between their marks."""
    return _between(_between(text, BEGIN, END, table(rows)), COST_BEGIN, COST_END, cost_table(cost))


def main() -> None:
    """Rewrite the page."""
    path, results = ROOT / "docs" / "live.md", ROOT / "benchmarks" / "results"
    rows = json.loads((results / "live.json").read_text(encoding="utf-8"))["rows"]
    cost = json.loads((results / "live_cost.json").read_text(encoding="utf-8"))
    write_text(path, page(path.read_text(encoding="utf-8"), rows, cost))


if __name__ == "__main__":
    main()
