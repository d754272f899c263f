"""docs/libraries.md, made from benchmarks/results/libraries.json."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import mean, stdev
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "libraries.md"
TITLES = {
    "digits": "The digits CNN: 38,160 weights, 448 steps, 899 test images",
    "text": (
        "The character transformer: 27,392 weights, 400 steps, 12,000 characters of test text, "
        "next-letter accuracy"
    ),
}
NEAR = 0.01  # a library counts as having met the budget within one per cent of the asked connections

INTRODUCTION = """# Pruning libraries side by side

How bandstop compares with other pruning libraries, on two of [the examples](examples.md). The rules are the
same for all:

- Every library trains from random weights, for the same number of steps, with the same batches, AdamW and
  cosine schedule. A method with two stages has one schedule for each.
- It prunes every weight of two or more dimensions that it can.
- Six settings of each were tried on a validation part at 98 %, with one seed each. The test part was looked
  at once per row and seed.

Accuracy is in per cent, mean ± standard deviation over three seeds. **Bold** is the best of those that met
the asked number of connections within 1 %. The trainings are short and the networks small: differences below
about one point on the digits are chance.

Made by `python benchmarks/libraries.py` (it can be interrupted; `--page` makes this page again) from
`benchmarks/results/libraries.json`.
"""

REMARKS = """## Remarks

- **bandstop** runs `Recipe.empirical()`, its default recipe at the time. Its six settings were laid out after
  about ten exploratory runs on the
  validation text with a larger transformer. Those of the others were laid out from their documentation,
  without such runs.
- **torch.nn.utils.prune** is asked for the global rate once, then fine-tunes. While it trains, its checkpoint
  holds a mask beside every weight (twice the size); the table shows the size after `prune.remove`.
- **torch.ao.pruning** still exists in torch 2.13. Its `WeightNormSparsifier` makes masks of two dimensions,
  and a convolution ends in `RuntimeError: shape '[1, 1, 144]' is invalid for input of size 9`. So
  convolutions stay dense here, and the asked rate applies to the linear layers alone. Every layer gets the
  same rate.
- **torchao PAT** (a prototype) is run in two ways. `GlobalMinSparsityConstraint` on single weights takes a
  rate. `ProxLasso` takes a strength: six strengths were tried, and each asked rate takes the one that came
  nearest.
- **NNCF** 3.4 has both methods behind `nncf.prune`. A bare `nn.Sequential` fails (its hooks are called as a
  layer), so the net is wrapped. The regularisation-based method (RB) aims at a rate and does not reach it at
  98 and 99 % in these trainings: its accuracy there belongs to a larger network.
- **Files.** The others write a dense file with zeros in it. bandstop writes `save_sparse`: the kept values in
  float32 and their positions, loaded back bit for bit. "Compressed" is the same file through zlib.
- **Step time**: CPU time of 200 whole steps of a short training at 98 %, in turns with dense ones, one
  thread, on a shared machine. For networks this small it is mostly the fixed cost of the extra operations.
"""


def page(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The whole page."""
    rows = list(found.values())
    about = {r["library"]: r for r in rows if r["kind"] == "describe"}
    parts = [INTRODUCTION]
    for task, title in TITLES.items():
        tests = [r for r in rows if r["kind"] == "test" and r["task"] == task]
        times = {r["library"]: r for r in rows if r["kind"] == "time" and r["task"] == task}
        if tests:
            parts += [f"## {title}\n", _accuracies(tests), _costs(tests, times)]
    versions = ", ".join(
        sorted({str(r["version"]) for r in about.values() if "version" in r} - {"this tree"})
    )
    return "\n".join([*parts, REMARKS, f"Versions: {versions}.", ""])


def _select(tests: list[Any], library: str, rate: float) -> list[Any]:
    return [r for r in tests if r["library"] == library and r["rate"] == rate and "error" not in r]


def _accuracies(tests: list[Any]) -> str:
    rates = sorted({r["rate"] for r in tests} - {0.0})
    dense = _select(tests, "dense", 0.0)
    lines = [f"Dense: {_spread(dense)}.\n"] if dense else []
    lines += ["| library | " + " | ".join(f"{r:.0%}: kept | accuracy" for r in rates) + " |"]
    lines += ["|---|" + "---:|---:|" * len(rates)]
    libraries = dict.fromkeys(r["library"] for r in tests if r["library"] != "dense")
    best = {rate: _best(tests, list(libraries), rate) for rate in rates}
    order = sorted(libraries, key=lambda name: (name != "bandstop", name))
    for library in order:
        cells = [_cell(_select(tests, library, rate), library == best[rate]) for rate in rates]
        lines.append(f"| {library} | " + " | ".join(cells) + " |")
    asked = ", ".join(f"{round((1 - r) * tests[0]['weights']):,} at {r:.0%}" for r in rates)
    return "\n".join([*lines, "", f"Asked: {asked}.", ""])


def _best(tests: list[Any], libraries: list[str], rate: float) -> str:
    def score(library: str) -> float:
        runs = _select(tests, library, rate)
        asked = (1 - rate) * tests[0]["weights"]
        met = runs and all(abs(r["kept"] - asked) <= max(1.0, NEAR * asked) for r in runs)
        return mean(r["accuracy"] for r in runs) if met else -1.0

    return max(libraries, key=score)


def _cell(runs: list[Any], bold: bool) -> str:
    if not runs:
        return "– | –"
    low, high = min(r["kept"] for r in runs), max(r["kept"] for r in runs)
    count = f"{low:,}" if low == high else f"{low:,}–{high:,}"
    return f"{count} | {'**' if bold else ''}{_spread(runs)}{'**' if bold else ''}"


def _spread(runs: list[Any]) -> str:
    values = [r["accuracy"] for r in runs]
    return f"{mean(values):.2f} ± {stdev(values):.2f}" if len(values) > 1 else f"{values[0]:.2f}"


def _costs(tests: list[Any], times: Mapping[str, Any]) -> str:
    lines = [
        "| library | bytes at 98 % | compressed | layers emptied at 98 % (of 3 runs) | step ÷ dense step |"
    ]
    lines += ["|---|---:|---:|---:|---:|"]
    for library in sorted(dict.fromkeys(r["library"] for r in tests), key=lambda n: (n != "bandstop", n)):
        runs = _select(tests, library, 0.0 if library == "dense" else 0.98)
        if runs:
            sizes = [f"{round(mean(r[k] for r in runs)):,}" for k in ("bytes", "bytes_deflated")]
            empty = "/".join(str(r["empty_layers"]) for r in runs)
            ratio = (
                f"{times[library]['ratio']:.2f}" if library in times and "ratio" in times[library] else "–"
            )
            lines.append(f"| {library} | {sizes[0]} | {sizes[1]} | {empty} | {ratio} |")
    return "\n".join([*lines, ""])
