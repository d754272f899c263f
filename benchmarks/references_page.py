"""The tables of docs/rivals.md that come from benchmarks/results/references.json."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "references.json"
PAGE = Path(__file__).parents[1] / "docs" / "rivals.md"
Found = dict[str, Any]


def _mean(values: list[float]) -> str:
    return f"{sum(values) / len(values):.1f}"


def _difference(value: float, unit: str) -> str:
    if unit in ("relative", "absolute"):
        return "none" if value == 0 else f"{value:.0e} ({unit})"
    return "none" if value == 0 else f"{value:g} {unit}"


def agreement(found: Found) -> str:
    """What was compared with whom, and how far apart the two are."""
    lines = ["| rival | reference | what is compared | values | difference |", "|---|---|---|---|---|"]
    for name, reference in found["references"].items():
        whose = "" if reference["by_authors"] else " †"
        for row in reference["agreement"]:
            gap = _difference(row["difference"], row["unit"])
            source = f"{name} @ {reference['commit'][:7]}{whose}"
            lines.append(f"| `{row['method']}` | {source} | {row['what']} | {row['compared']:,} | {gap} |")
    return "\n".join(lines)


def trainings(found: Found) -> str:
    """Accuracies, ours beside theirs."""
    lines = ["| rival | reference | theirs | connections | ours | connections |", "|---|---|---|---|---|---|"]
    for name, reference in found["references"].items():
        for row in reference["trainings"]:
            cells = []
            for side, count in (("theirs", "their_connections"), ("ours", "our_connections")):
                seeds = ", ".join(f"{value:.1f}" for value in row[side])
                numbers = sorted(set(row[count]))
                cells += [
                    f"**{_mean(row[side])}** ({seeds})",
                    "–".join(f"{n:,}" for n in (numbers[:1] + numbers[-1:] if len(numbers) > 1 else numbers)),
                ]
            lines.append(f"| `{row['method']}` | {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def alone(found: Found) -> str:
    """All our rivals, default settings."""
    names, blocks = list(found["alone"]), []
    for part in (names[:9], names[9:]):
        means = " | ".join(_mean(found["alone"][name]) for name in part)
        blocks.append(f"| {' | '.join(part)} |\n{'|---' * len(part)}|\n| {means} |")
    return "\n\n".join(blocks)


def choices(found: Found) -> str:
    """Settings tried on held-out training images."""
    lines = ["| rival | steps | rates | settings: accuracy |", "|---|---|---|---|"]
    for method, steps in dict.fromkeys((row["method"], row["steps"]) for row in found["choices"]):
        rows = [row for row in found["choices"] if (row["method"], row["steps"]) == (method, steps)]
        rates = " and ".join(f"{rate:.0%}".replace("%", " %") for rate in rows[0]["rates"])
        cells = []
        for row in rows:
            text = ", ".join(f"{key} {value:g}" for key, value in row["settings"].items())
            cells.append(f"{text}: {row['accuracy']:.1f}")
        lines.append(f"| `{method}` | {steps:,} | {rates} | {'; '.join(cells)} |")
    return "\n".join(lines)


def longer(found: Found) -> str:
    """What longer trainings bring."""
    counts = sorted({row["steps"] for row in found["longer"]})
    lines = [f"| rival | {' | '.join(f'{n:,} steps' for n in counts)} |", "|---" * (len(counts) + 1) + "|"]
    for method in dict.fromkeys(row["method"] for row in found["longer"]):
        rows = {row["steps"]: row["accuracy"] for row in found["longer"] if row["method"] == method}
        lines.append(f"| `{method}` | {' | '.join(_mean(rows[n]) for n in counts)} |")
    return "\n".join(lines)


TABLES = {
    "agreement": agreement,
    "trainings": trainings,
    "alone": alone,
    "choices": choices,
    "longer": longer,
}


def with_tables(text: str, found: Found) -> str:
    """The page with every marked region made anew."""
    for name, table in TABLES.items():
        pattern = rf"(<!-- references: {name} -->\n).*?(<!-- end -->)"
        text, times = re.subn(
            pattern, lambda m, table=table: f"{m[1]}\n{table(found)}\n\n{m[2]}", text, flags=re.DOTALL
        )
        if times != 1:
            raise ValueError(f"docs/rivals.md must have one region 'references: {name}', found {times}")
    return text
