"""The tables of docs/fine-tuning.md, made from benchmarks/results/finetune.json:
`python benchmarks/finetune_page.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

RESULTS = Path(__file__).parent / "results" / "finetune.json"
PAGE = Path(__file__).parents[1] / "docs" / "fine-tuning.md"
START, END = "<!-- fine-tuning: made by benchmarks/finetune_page.py -->", "<!-- end of fine-tuning -->"
TITLES = {
    "digits": "The digits CNN: 38,160 weights, 763 kept, {steps} steps, 899 test images",
    "text": "The character transformer: 27,392 weights, 548 kept, {steps} steps, next-letter accuracy",
}
WORDS = {
    "bandstop": "**bandstop**",
    "bandstop, start scale": '`Recipe(start="scale")`',
    "bandstop, start rank": '`Recipe(start="rank")`',
    "torch, cut once": "torch, cut once",
    "torch, cut gradually": "torch, cut gradually",
}
T = {3: 4.303, 5: 2.776}
"""The t distribution's 97.5 % quantile, by the number of seeds."""


def tables(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Both tables, of the runs on the test part."""
    parts = []
    for task, title in TITLES.items():
        runs = [r for r in found.values() if r["kind"] == "test" and r["task"] == task]
        if runs:
            parts += [f"### {title.format(steps=runs[0]['steps'])}\n", _table(runs)]
    return "\n".join(parts)


def _table(runs: Sequence[Mapping[str, Any]]) -> str:
    seeds = set.intersection(*({r["seed"] for r in runs if r["method"] == m} for m in WORDS))
    mine = sorted((r for r in runs if r["seed"] in seeds), key=lambda r: r["seed"])
    rows = {method: [r for r in mine if r["method"] == method] for method in WORDS}
    ours = rows["bandstop"]
    lines = [f"Before pruning: {_spread([r['dense'] for r in ours])} ({len(ours)} seeds).\n"]
    lines += ["| method | when attached | after five epochs | behind bandstop, per seed | layers emptied |"]
    lines += ["|---|---:|---:|---:|---:|"]
    for method, word in WORDS.items():
        empty = f"{mean(r['empty_layers'] for r in rows[method]):g}"
        cells = [_spread([r[k] for r in rows[method]]) for k in ("attached", "accuracy")]
        behind = "" if method == "bandstop" else _difference(ours, rows[method])
        lines.append(f"| {word} | {cells[0]} | {cells[1]} | {behind} | {empty} |")
    return "\n".join([*lines, ""])


def _spread(values: Sequence[float]) -> str:
    return f"{mean(values):.2f} ± {stdev(values):.2f}"


def _difference(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> str:
    """Mean and 95 % interval of the paired differences."""
    gaps = [a["accuracy"] - b["accuracy"] for a, b in zip(ours, theirs, strict=True)]
    half = T[len(gaps)] * stdev(gaps) / math.sqrt(len(gaps))
    return f"{mean(gaps):.2f} ({mean(gaps) - half:.2f} … {mean(gaps) + half:.2f})".replace("-", "−")


def page(text: str, found: Mapping[str, Mapping[str, Any]]) -> str:
    """The page's text with the tables of the results ``found``."""
    before, rest = text.split(START)
    return f"{before}{START}\n{tables(found)}{END}{rest.split(END)[1]}"


def update() -> None:
    """Write the tables into the page."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    update()
