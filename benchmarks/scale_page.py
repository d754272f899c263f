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
    "penalty, fused": "KL penalty, value and gradient",
    "penalty, torch": "the same without numba",
    "threshold, fused": "exact threshold of one layer",
    "threshold, torch": "the same without numba",
    "hold, fused": "map of one layer to the prior",
    "hold, torch": "the same without numba",
    "gate": "soft gate, forward and backward",
    "gate, chart": "the same of held latents, through their chart",
}


def page() -> str:
    """The whole page."""
    scale = json.loads((RESULTS / "scale.json").read_text(encoding="utf-8"))
    about = scale["about"]
    parts = [
        "# What a step costs, at any size",
        "",
        "How much time and memory the pruner adds to a training step. Measured on one thread of a CPU. On a",
        "GPU the same code runs with PyTorch's own operations instead of the fused kernels",
        "(`bandstop[fast]`); that was not timed.",
        "",
        "## Per weight",
        "",
        "    python benchmarks/scale.py --out benchmarks/results/scale.json",
        "",
        f"Nanoseconds of processor time per weight, the least of several runs; torch {about['torch']}, "
        f"{about['bins']} bins, load average {about['load_average']:.1f} on 2 cores.",
        "",
        *_nanoseconds(scale["rows"]),
        "",
        "Peak memory besides the weights and their gradient, as a share of the weights' own size:",
        "",
        *_memory(scale["rows"]),
        "",
        "- **The penalty** keeps a small table and works through the weights in parts. There is no buffer of",
        "  weights × bins, and no sort. Its gradient, until it is added to that of the loss, is not counted.",
        "- **Latents are held** at every fourth step (`Recipe.every`), after the ramp at every second, by",
        "  three passes over the weights; the thresholds follow by arithmetic. Up to a million weights the",
        "  quantiles of all ranks are tabulated, once for layers of one size: four bytes a weight stay, and",
        "  what the table shows at these sizes is what it takes to make them.",
        "- **Thresholds of free latents** (`Recipe.empirical()`) are renewed every fourth step by a radix",
        "  select: three reads of the weights. Without numba the selection copies the weights.",
        "- **Shares of layers** are found by bisection on scores that layers of one size have in common.",
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
        "124 million weights in plain PyTorch, head tied to the embedding, AdamW, one sequence, default",
        "recipe. Thresholds are renewed in one step of four, which is part of the mean. Steps with and",
        "without the pruner take turns. Figures are seconds of processor time; the load average was",
        f"{found['about']['load_average']:.1f} on 2 cores. A ratio within a few hundredths of one is noise.",
        "",
        "| tokens | without the pruner, s | with it, s | ratio |",
        "|---:|---:|---:|---:|",
    ]
    return lines + [
        f"| {row['tokens']:,} | {row['bare_processor']:.2f} | {row['pruned_processor']:.2f} "
        f"| {row['ratio_processor']:.3f} |"
        for row in found["rows"]
    ]


if __name__ == "__main__":
    write_text(PAGE, page())
