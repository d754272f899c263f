"""Make docs/results.md, and the table in README.md, from the committed result files.

    python benchmarks/results_page.py

Nothing on that page is written by hand but the sentences of results_page.toml;
`tests/docs/test_results_page.py` checks that it is current.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bandstop.files import write_text
from bandstop.study.results import ResultRow, read_results
from bandstop.study.tables.curve import write_curve
from bandstop.study.tables.groups import Group, gather
from bandstop.study.tables.overview import overview_tables
from bandstop.study.tables.paper import paper_tables
from bandstop.study.tables.render import TextTable, render
from bandstop.study.tables.summary import paired_tables, per_cent, summary_tables, with_spread

ROOT = Path(__file__).parents[1]
RESULTS, PAGE, README = ROOT / "benchmarks" / "results", ROOT / "docs" / "results.md", ROOT / "README.md"
BEGIN, END = "<!-- results: made by benchmarks/results_page.py -->", "<!-- end of results -->"
SENTENCES = Path(__file__).with_suffix(".toml")
PAPER = {None: "86.43", 0.98: "70.80", 0.99: "64.17"}
LONGEST, MOTION = "1000-epochs", "motion"
"""Variants of `main` that README shows, both of 1,000 epochs; the page has the shorter one too."""
CURVES = 6
"""Rivals in a picture."""
READING = """Every table of this page comes from a command, which stands above it, and from a file in
`benchmarks/results/`. All runs used one thread of a machine with two cores. (The page is made by
`python benchmarks/results_page.py`.)

**The default recipe holds its latents to the prior** ([the prior that holds](prior-holds.md)). It is measured
in "The default recipe on test splits" and "Which prior when". The other tables were measured before, with
free latents, which was the default then and is `--preset empirical` now; their plans name that preset.

How to read the tables:

- **accuracy** is the share of test sequences that are named correctly, in per cent, as mean ± standard
  deviation over seeds; **class accuracy** is its average over classes.
- **rate** is the share of weights that was removed. **weights** is how many are left, **live** how many of
  them can change the output.
- **pmp** is bandstop's method; *laplace*, *gaussian*, … is its prior. The other names are
  [rivals](rivals.md).
- **95 % interval**: a difference whose interval does not reach zero is unlikely to be chance. A star marks
  what stays so after Holm's correction for the number of tests.

Other words are in the [glossary](glossary.md)."""


@dataclass(frozen=True)
class Shown:
    """A study on the page: its committed results, what made them, and what to say about them."""

    file: str
    title: str
    command: str
    text: str
    tables: str
    """Which of `TABLES`."""
    picture: str | None = None
    """Curves, drawn beside the page."""
    beside: tuple[dict[str, str], ...] = ()
    """Rows of other studies to compare with: their file, method ("rivals" for all of them) and variant, and
    what the variant is called here."""

    def section(self) -> list[str]:
        """Its part of the page."""
        shown = [f"![Accuracy against kept weights]({self.picture})", ""] if self.picture else []
        body = render(TABLES[self.tables](self.groups()), "md").rstrip()
        return ["", self.title, "", f"    {self.command}", "", self.text, "", *shown, body]

    def draw(self) -> None:
        """The picture, if it has one: the first method and those that come closest to it."""
        if self.picture is None:
            return
        groups = [g for g in self.groups() if g.rate is not None]
        names = list(dict.fromkeys(g.method for g in groups))
        level = {n: [g.mean("accuracy").mean for g in groups if g.method == n] for n in names}
        best = [names[0], *sorted(names[1:], key=lambda n: -sum(level[n]) / len(level[n]))[:CURVES]]
        chosen = sorted((g for g in groups if g.method in best), key=lambda g: best.index(g.method))
        write_curve(chosen, "accuracy", PAGE.parent / self.picture)

    def groups(self) -> list[Group]:
        """What was measured."""
        rows = list(read_results([RESULTS / self.file]))
        for other in self.beside:
            found = (
                row for row in read_results([RESULTS / other["file"]]) if row.variant == other["variant"]
            )
            called = other.get("called", other["variant"])
            rows += [replace(row, variant=called) for row in found if _is_of(row, other["method"])]
        return gather(rows)


def _is_of(row: ResultRow, method: str) -> bool:
    return row.method == method if method != "rivals" else row.rate is not None and row.method != "pmp"


def accuracy(group: Group) -> str:
    """Mean ± deviation."""
    return with_spread(group.mean("accuracy"), "accuracy")


def with_pairs(groups: Sequence[Group]) -> list[TextTable]:
    """Means with intervals and costs, and paired tests."""
    return [*summary_tables(groups, "accuracy"), *paired_tables(groups, "accuracy", None)]


def trials(groups: Sequence[Group]) -> list[TextTable]:
    """Of each method: how many settings were tried,
    and those of the second round with the accuracy of each seed.
    """
    rows = []
    for method in dict.fromkeys(g.method for g in groups):
        tried = [g for g in groups if g.method == method]
        again = [g for g in tried if len(g.rows) > 1]
        best = max(again, key=lambda g: g.mean("accuracy").mean)
        words = {g: f"{g.variant} " + " / ".join(f"{r.accuracy:.1f}" for r in g.rows) for g in again}
        others = "; ".join(text for g, text in words.items() if g is not best)
        rows.append((method, str(len(tried)), words[best], others))
    header = ("method", "settings tried", "chosen", "also in the second round")
    return [TextTable("Accuracy on the parts held out, seed by seed", header, tuple(rows))]


TABLES: dict[str, Callable[[Sequence[Group]], list[TextTable]]] = {
    "pairs": with_pairs,
    "overview": overview_tables,
    "trials": trials,
    "paper table 1": lambda groups: paper_tables(groups)[:1],
    "paper table 2": lambda groups: paper_tables(groups)[-1:],
}
STUDIES = [Shown(**study) for study in tomllib.loads(SENTENCES.read_text(encoding="utf-8"))["study"]]
MEASURED = [study for study in STUDIES if (RESULTS / study.file).is_file()]


def page() -> str:
    """The whole page."""
    parts = [
        "# Results",
        "",
        READING,
    ]
    for study in MEASURED:
        parts += study.section()
    parts += ["", *_costs()]
    return "\n".join(parts) + "\n"


def readme() -> str:
    """README.md with its table of results renewed."""
    text = README.read_text(encoding="utf-8")
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    return "\n".join([head + BEGIN, *_headline(), END + tail])


def _headline() -> list[str]:
    """One row a rate: equal cost against the best rival, then the long training, with and without motion."""
    short = gather([row for row in read_results([RESULTS / "rivals.csv"]) if row.method != "pmp"])
    held = gather([row for row in read_results([RESULTS / "held-default.csv"]) if row.data == "fpha"])
    long = gather(read_results([RESULTS / "main.csv"]))
    rivals = {g.method for g in short if g.rate is not None}
    rows = [
        "| weights removed | weights left | bandstop, 150 epochs | best of "
        f"{len(rivals)} rivals, 150 epochs | bandstop, 1,000 epochs | the paper |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    longest = {g.rate: g for g in long if g.variant == LONGEST}
    for rate, group in longest.items():
        level = {g.method: g for g in (*held, *short) if g.rate == rate}
        best = max(
            (level[n] for n in rivals if n in level), key=lambda g: g.mean("accuracy").mean, default=None
        )
        cells = [
            "none" if rate is None else per_cent(rate),
            f"{round(group.mean('weights_kept').mean):,}",
            accuracy(level["dense" if rate is None else "pmp"]),
            accuracy(best) if best else "",
            accuracy(group),
            PAPER.get(rate, ""),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    moving = {g.rate: g for g in long if g.variant == MOTION}
    figures = [f"{moving[rate].mean('accuracy').mean:.2f}" for rate in longest]
    said = f"{', '.join(figures[:-1])} and {figures[-1]}"
    return [
        *rows,
        "",
        f"With speed and duration in the signal (`--signal motion`) the 1,000 epochs give {said}.",
    ]


def _costs() -> list[str]:
    overhead = json.loads((RESULTS / "overhead.json").read_text(encoding="utf-8"))
    return [
        "## What the pruner adds to a training step",
        "",
        "    python benchmarks/overhead.py --out benchmarks/results/overhead.json",
        "",
        f"{overhead['what']}; {overhead['machine']}; load {overhead['load'][0]} on "
        f"{overhead['cores']} cores.",
        "",
        *_steps("GCN", overhead["batches"]),
        *_steps("TCN, the default", overhead["tcn"]),
        *_histogram(),
    ]


def _steps(network: str, batches: list[dict[str, Any]]) -> list[str]:
    """Milliseconds of a step and its ratio to a dense one, for each way to train a network."""
    return [
        f"| {network} | " + " | ".join(f"ms per step, batch {b['batch']} | ÷ dense" for b in batches) + " |",
        "|---|" + "---:|---:|" * len(batches),
        *(
            f"| {name} | "
            + " | ".join(f"{b['milliseconds'][name]:.1f} | {b['ratio_to_dense'][name]:.3f}" for b in batches)
            + " |"
            for name in batches[0]["milliseconds"]
        ),
        "",
    ]


def _histogram() -> list[str]:
    found = json.loads((RESULTS / "histogram.json").read_text(encoding="utf-8"))
    about = found["about"]
    lines = [
        f"| {row['weights']:,} | {row['path']} | {row['seconds'] / row['weights'] * 1e9:.2f} | "
        + (f"{row['speed_up']:,.0f}× |" if row.get("speed_up") else "|")
        for row in found["rows"]
    ]
    return [
        "## What the KL penalty costs per weight",
        "",
        "    python benchmarks/histogram.py --out benchmarks/results/histogram.json",
        "",
        f"Value and gradient, {about['bins']} bins, one thread, medians, "
        f"load average {about['load_average']:.1f}.",
        "",
        "| weights | path | ns per weight | speed-up over the literal formula |",
        "|---:|---|---:|---:|",
        *lines,
    ]


if __name__ == "__main__":
    for study in MEASURED:
        study.draw()
    write_text(PAGE, page())
    write_text(README, readme())
