"""Make docs/results.md, and the table in README.md, from the committed result files.

    python benchmarks/results_page.py

Nothing on that page is written by hand but the sentences here; `tests/test_results_page.py` checks that it is current.
"""

from __future__ import annotations

import json
from pathlib import Path

from bandstop.files import write_text
from bandstop.study.groups import gather
from bandstop.study.render import render
from bandstop.study.results import read_results
from bandstop.study.tables import paired_tables, summary_tables

ROOT = Path(__file__).parents[1]
RESULTS, PAGE, README = ROOT / "benchmarks" / "results", ROOT / "docs" / "results.md", ROOT / "README.md"
BEGIN, END = "<!-- results: made by benchmarks/results_page.py -->", "<!-- end of results -->"
PAPER = {None: "86.43", 0.98: "70.80", 0.99: "64.17"}

STUDIES = {
    "main.csv": (
        "## FPHA: dense, and PMP at 98 and 99 %",
        "    bandstop study main --data fpha=fpha:PATH --out studies/main",
        """First-Person Hand Action, official split (600 training, 575 test sequences), GCN with heads concatenated (251,080 weights),
500 epochs, `default` recipe, five seeds. "distilled": learning from three of the dense runs, whose training is an extra cost
(last column). The paper reports 86.43 dense, 70.80 at 98 % and 64.17 at 99 %. Settings were chosen on a quarter of the training
split held out (`--validation 0.25`). The test split was seen for this table and in two earlier runs of the plan (the first gave
88.14, 88.31 and 86.12): no setting was chosen by them, but the second showed a defect, a layer gain that crossed zero and cost two
of eleven pruned runs eight points, which is mended here. That second run, stopped for the mend, also had PMP without teachers:
87.37 at 98 % and 84.66 at 99 %, one of its five seeds collapsed; two seeds at 98 % after the mend gave 87.30 and 84.52. One test
sequence is 0.17 points.

**Older than the present recipe:** measured while layer gains were learned and no dropout was used (git 5b6f009). On held-out parts of
the training split the present recipe is 2 to 4 points better at 98 and 99 % and about 10 at 99.5 % ([recipe](recipe.md)); the test
split has not been looked at with it yet.""",
    ),
    "ablation.csv": (
        "## What each part of the recipe is worth",
        "    bandstop study ablation --data fpha=fpha:PATH --out studies/ablation --set validation=0.25 --only rate=0.99 --only seed=0,1,2",
        """One change at a time, 99 % pruned, judged on a quarter of FPHA's training split held out (each seed another quarter, 151
sequences: single runs differ by ±3.5 points by chance alone, so look at the paired intervals).""",
    ),
}


def page() -> str:
    """The whole page."""
    parts = [
        "# Results",
        "",
        "Made by `python benchmarks/results_page.py` from `benchmarks/results/`. 2 cores, one thread a run.",
    ]
    for name, (title, command, text) in STUDIES.items():
        if (RESULTS / name).is_file():
            groups = gather(read_results([RESULTS / name]))
            tables = [*summary_tables(groups, "accuracy"), *paired_tables(groups, "accuracy", None)]
            parts += [
                "",
                title,
                "",
                command,
                "",
                text,
                "",
                render(tables, "md").rstrip(),
            ]
    parts += ["", *_costs()]
    return "\n".join(parts) + "\n"


def readme() -> str:
    """README.md with its table renewed."""
    rows = [
        "| FPHA, official split | connections | bytes | accuracy | the paper |",
        "|---|---:|---:|---:|---:|",
    ]
    for group in gather(read_results([RESULTS / "main.csv"])):
        name = (
            "dense"
            if group.rate is None
            else f"{group.rate:.0%} pruned{', distilled' if group.distilled else ''}"
        )
        kept, size = (
            round(group.average(lambda row, f=field: getattr(row, f))) for field in ("weights_kept", "bytes")
        )
        found = group.mean("accuracy")
        rows.append(
            f"| {name} | {kept:,} | {size:,} | {found.mean:.2f} ± {found.deviation:.2f} | {PAPER[group.rate]} |"
        )
    text = README.read_text(encoding="utf-8")
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    return "\n".join([head + BEGIN, *rows, END + tail])


def _costs() -> list[str]:
    overhead = json.loads((RESULTS / "overhead.json").read_text(encoding="utf-8"))
    rows = [
        f"| {name} | {overhead['milliseconds'][name]:.1f} | {ratio:.3f} |"
        for name, ratio in overhead["ratio_to_dense"].items()
    ]
    return [
        "## What the pruner costs a training step",
        "",
        "    python benchmarks/overhead.py --out benchmarks/results/overhead.json",
        "",
        f"{overhead['what']}; {overhead['machine']}.",
        "",
        "| | ms a step | ÷ dense |",
        "|---|---:|---:|",
        *rows,
        "",
        *_histogram(),
    ]


def _histogram() -> list[str]:
    found = json.loads((RESULTS / "histogram.json").read_text(encoding="utf-8"))
    lines = [
        f"| {row['weights']:,} | {row['path']} | {row['seconds'] / row['weights'] * 1e9:.2f} | "
        + (f"{row['speed_up']:,.0f}× |" if row.get("speed_up") else "|")
        for row in found["rows"]
    ]
    return [
        "## What the KL penalty costs a weight",
        "",
        "    python benchmarks/histogram.py --out benchmarks/results/histogram.json",
        "",
        f"Value and gradient, {found['about']['bins']} bins, one thread, medians, load average {found['about']['load_average']:.1f}.",
        "",
        "| weights | path | ns a weight | against the literal formula |",
        "|---:|---|---:|---:|",
        *lines,
    ]


if __name__ == "__main__":
    write_text(PAGE, page())
    write_text(README, readme())
