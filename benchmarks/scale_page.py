"""Make docs/scale.md from benchmarks/results/scale.json and transformer_step.json.

python benchmarks/scale_page.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bandstop.files import write_text

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "benchmarks" / "results", ROOT / "docs" / "scale.md"
PATHS = {
    "penalty, fused": "prior's penalty, value and gradient",
    "penalty, torch": "the same without numba",
    "threshold, fused": "exact threshold of a layer",
    "threshold, torch": "the same without numba",
    "gate": "soft gate, there and back",
}


def page() -> str:
    """The whole page."""
    scale = json.loads((RESULTS / "scale.json").read_text(encoding="utf-8"))
    about = scale["about"]
    parts = [
        "# What a step costs, at any size",
        "",
        "Measured on a CPU, on one thread. A GPU was not measured: the same code runs there with torch's "
        "operations instead of the fused passes, and was not timed.",
        "",
        "## A weight",
        "",
        "    python benchmarks/scale.py --out benchmarks/results/scale.json",
        "",
        f"Nanoseconds of processor time a weight, the least of several runs; torch {about['torch']}, "
        f"{about['bins']} bins, load average {about['load_average']:.1f} on 2 cores.",
        "",
        *_nanoseconds(scale["rows"]),
        "",
        "Peak memory above what the weights and their gradient take, as a share of the weights' own:",
        "",
        *_memory(scale["rows"]),
        "",
        "The penalty keeps a table of cells and works through the weights in parts: there is no buffer of "
        "weights × bins, and no sort. Thresholds are renewed every fourth step (`Recipe.every`), by counting "
        "digits in three reads of the weights; without numba a selection copies them. Layers share the "
        "budget by bisection on scores that layers of one size have in common.",
        "",
        *_transformer(),
    ]
    return "\n".join(parts) + "\n"


def _nanoseconds(rows: list[dict[str, Any]]) -> list[str]:
    sizes = sorted({row["weights"] for row in rows})
    lines = ["| | " + " | ".join(f"{n:,} weights" for n in sizes) + " |", "|---|" + "---:|" * len(sizes)]
    for path, words in PATHS.items():
        found = {row["weights"]: row["nanoseconds"] for row in rows if row["path"] == path}
        lines.append(f"| {words} | " + " | ".join(f"{found[n]:.1f}" for n in sizes) + " |")
    return lines


def _memory(rows: list[dict[str, Any]]) -> list[str]:
    sizes = sorted({row["weights"] for row in rows})
    lines = ["| | " + " | ".join(f"{n:,} weights" for n in sizes) + " |", "|---|" + "---:|" * len(sizes)]
    for path, words in PATHS.items():
        found = {
            r["weights"]: r["extra_share"] for r in rows if r["path"] == path and r["extra_share"] is not None
        }
        if found:
            lines.append(f"| {words} | " + " | ".join(f"{found[n]:.1%}" for n in sizes) + " |")
    return lines


def _transformer() -> list[str]:
    path = RESULTS / "transformer_step.json"
    if not path.is_file():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    lines = [
        "## A transformer of GPT-2 small's shape",
        "",
        "    python benchmarks/transformer_step.py --out benchmarks/results/transformer_step.json",
        "",
        "124 million weights in plain torch, head tied to the embedding, AdamW, one sequence, default recipe "
        "(thresholds renewed in one step of four, which is part of the mean); bare and pruned steps take "
        f"turns. Load average {found['about']['load_average']:.1f} on 2 cores: "
        "processor time is the figure, and a ratio within a few hundredths of one is noise.",
        "",
        "| tokens | bare, s | with the pruner, s | ratio |",
        "|---:|---:|---:|---:|",
    ]
    return lines + [
        f"| {row['tokens']:,} | {row['bare_processor']:.2f} | {row['pruned_processor']:.2f} "
        f"| {row['ratio_processor']:.3f} |"
        for row in found["rows"]
    ]


if __name__ == "__main__":
    write_text(PAGE, page())
