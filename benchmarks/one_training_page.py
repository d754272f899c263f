"""Make docs/one-training.md and its picture from benchmarks/results/one_training.json.

python benchmarks/one_training_page.py
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from bandstop.files import atomic_write, write_text

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "one_training.json", ROOT / "docs" / "one-training.md"
PICTURE = ROOT / "docs" / "one-training.png"
MANY = "at once, held"
NEAR = 1.0  # points that a rate may be behind its separate nets
NAMES = {"fpha": "FPHA", "hands": "built-in hands"}

TEXT = """# One training, any budget

Train once for a range of pruning rates. Then take out a network of any size in that range, without training
again:

    bandstop train hands --rates 0.8:0.99 --preset held --out runs/any
    bandstop extract runs/any --rate 0.97 --out runs/any97

`bandstop extract` takes a rate, a number of weights, bytes or MACs. The result has exactly so many
connections, all of them live. It is a run folder like any other: `evaluate`, `predict`, `export` and
`report` read it.

In a loop of your own:

    from bandstop import MultiRatePruner
    from bandstop.engine.multirate.recipes import many_rates_recipe

    recipe = many_rates_recipe(held=True)
    pruner = MultiRatePruner(model, (0.8, 0.99), steps=epochs * len(loader), recipe=recipe)
    for epoch in range(epochs):
        for inputs, labels in loader:
            optimiser.zero_grad()
            for rate in pruner.passes():
                loss(model(inputs), labels).backward()
            optimiser.step()
            pruner.step()
    small = pruner.extract(0.97, batches=[inputs, …])

## How it works

- **One set of latents serves all rates.** Every step draws new rates. Each layer keeps its largest latents,
  and a higher rate keeps fewer in every layer, so the masks are nested.
- **A rate is a quantile.** The latents are held to the prior ([the prior holds](prior-holds.md)), so one
  number per layer, the prior's scale s, gives the threshold of every rate: a = s·F⁻¹(r). Training looks for
  nothing among the latents. Once the order of the connections is fixed, at 60 % of the training, the
  magnitudes of that moment stay the ones that rates are quantiles of, and the weights train freely.
- **Extraction** starts from the same quantile. The exact count, and dead connections that are replaced by
  live ones, then move a few connections.
- **Nothing is retrained**, but the running statistics of batch normalisation belong to one rate. `extract`
  measures them again on training data (`batches`, or the data of the run), which takes about a second.
  Networks without such layers need no data.
- **Live connections.** Dead connections are replaced at extraction. Replacements cannot be nested one by
  one, since a new unit needs two connections at once to be live.
- **Shares of layers** come from the prior, as in a training for a single rate.
- Without `--preset held` thresholds are the latents' own quantiles, found anew for each pass. That training
  has three times the epochs and cost more than six separate ones when it was last measured, one to two
  points behind them.

## What it costs in accuracy

    python benchmarks/one_training.py --data fpha=PATH --data hands=hands --runs FOLDER \\
        --out benchmarks/results/one_training.json

Accuracy on the test split in per cent; one thread of a shared x86-64 machine with two cores, on which other
work went on.

- "separate": one network trained for each rate, with the default recipe.
- "at once, held": one network for all rates from 0.8 to 0.99 with the settings of `--preset held`, and as
  many epochs as one separate network has; every figure is extracted from it, also at rates that no separate
  network has. A step has three passes over the same batch: at the lowest rate, at a drawn one and at the
  highest. The last two also learn from what the lowest predicts.
- Figures are means over seeds (their number in brackets). The last column is the mean difference over the
  seeds, with the smallest and largest.
- A test split has 575 sequences (FPHA) or 560 (hands): one point is six of them. Separate networks differ
  by about as much from seed to seed.

The aim is to be within 1 point of separate networks at every rate, in the mean of three seeds, at the cost
of at most three separate trainings.

@VERDICT@
**How settings were chosen.** On a quarter of the training split held out (160 sequences of the hands, 151
of FPHA), with one to three seeds, by trials that have no result file. Two trainings that differ in little
may differ by 2 points in the mean over rates, so only large differences can be read. The settings kept
(laplace prior, leak 0.03; 1.1 times the epochs in these trials) had 94.7, 97.0 and 94.6 on the hands (mean
over six rates, seeds 0 to 2) and 76.8 on FPHA (seed 0). Separate networks of the same seeds had 95.8, 96.9
and 95.4 on the hands at 80, 95 and 99 % beside 96.7, 96.2 and 93.1, and 80.8, 73.5 and 75.5 on FPHA beside
75.5, 77.5 and 75.5. These are the best of two dozen on the hands, so they are flattered, and the test split
shows by how much. Means over rates of all trials:

| change | hands, seed 0 | hands, seed 2 | FPHA, seed 0 |
|---|---:|---:|---:|
| none: laplace, leak 0.03, 1.1 times the epochs | 94.7 | 94.6 | 76.8 |
| leak 0.01 | 91.2 | 94.4 | – |
| leak 0.1 | 90.9 | 91.7 | – |
| dropout 0.2 in passes up to 98 % | 91.8 | 92.9 | 77.5 |
| half of the loss from the highest rate | 90.4 | 93.4 | – |
| order fixed at 50 % | 90.7 | 93.5 | – |
| order fixed at 70 % | 93.0 | 93.5 | – |
| batch 120, 1.25 times the epochs | 91.8 | – | – |
| the same with dropout (on FPHA 1.2 times) | 92.2 | – | 76.5 |
| leak 0, dropout | – | – | 75.7 |
| moving average of the weights | 94.6 | 94.4 | – |
| gaussian prior (on FPHA 1.15 times) | 93.3 | – | 73.2 |
| gaussian prior, dropout (on FPHA 1.15 times; on the hands leak 0.1, up to 96 %) | 91.5 | – | 76.2 |
| gaussian prior, learning rate of latents 0.1 | 91.4 | – | – |
| gaussian prior, batch 120, dropout, 1.35 times the epochs | – | – | 75.5 |
| gaussian prior, leak 0, 1.0 times the epochs | 90.5 | – | 77.3 |
| gaussian prior, leak 0.1, 1.0 times the epochs | 92.7 | – | – |
| gaussian prior, leak 1, 1.0 times the epochs | 85.6 | – | – |
| gaussian prior, leak 0.1, two passes, 1.5 times the epochs | 92.1 | – | – |
| gaussian prior, leak 0.1, one pass until 60 %, 1.7 times the epochs | 89.9 | – | – |
| the same with leak 1, half or all of these passes at the highest rate, 1.0 times | 89.2, 88.3 | – | – |
| gaussian prior, garrote gate, variance gain, leak 0, 1.0 times the epochs | 89.8 | – | – |
| gaussian prior, batch 120, 1.3 times the epochs (seed 1: 96.2) | 93.6 | 91.6 | – |
| gaussian prior, leak 0.1, batch 40, 1.0 times the epochs | 89.6 | – | – |
| gaussian prior, leak 0, 1.0 times the epochs, gains that follow the rate | 89.4 | – | – |
| gaussian prior, soft gate, variance gain, leak 1, 1.0 times the epochs | 82.2 | – | – |

The epochs were then set to as many as a separate network has, since 1.1 times on FPHA came to about three
separate trainings. That a small leak does what none and a large one do not fits this: an optimiser that
divides by the size of gradients moves a weight that no rate keeps as fast with any leak, while one that a
lower rate keeps hardly sees what a higher rate wants of it. This was not tested by itself.

**What was seen of the test split before.** An earlier table, of a training with thresholds from the
latents' own quantiles and three times the epochs, had been looked at (hands: 0.8 to 1.9 points behind;
FPHA, one seed: 0.2 ahead to 1.9 behind), and two of its choices, which stay, were made after a look at the
first seed of the hands: that the highest pass, once the order is fixed, is at the rate that the highest
budget is really extracted from, and the epochs, which are now others. The settings above were chosen
without the test split, and it was looked at once: nothing was changed after these tables.
"""


def page(rows: list[dict[str, Any]]) -> str:
    """The whole page."""
    parts = [
        TEXT.replace("@VERDICT@", _summary(rows)),
        "![Accuracy against the number of kept connections](one-training.png)",
        "",
    ]
    for data in dict.fromkeys(row["data"] for row in rows):
        parts += [f"### {NAMES[data]}", "", *_table([row for row in rows if row["data"] == data]), ""]
    return "\n".join(parts)


def _summary(rows: list[dict[str, Any]]) -> str:
    """At once less separate at each rate, and what the one training costs, a row per data set."""
    rates = sorted({row["rate"] for row in rows if row["kind"] == "separate"})
    lines = [
        "| at once less separate | "
        + " | ".join(f"{rate:.0%}" for rate in rates)
        + " | cost, in separate trainings |",
        "|---|" + "---:|" * (len(rates) + 1),
    ]
    for data in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == data]
        gaps = [statistics.mean(_pairs(_by_kind(own, rate))) for rate in rates]
        shown = [f"{gap:+.2f}" if gap >= -NEAR else f"**{gap:+.2f}**" for gap in gaps]
        means = _mean_costs(own)
        lines.append(
            f"| {NAMES[data]} | " + " | ".join(shown) + f" | {means[MANY] / means['separate']:.2f} |"
        )
    return "\n".join([*lines, "", "Bold: the aim is missed."]) + "\n"


def _by_kind(rows: list[dict[str, Any]], rate: float) -> dict[str, list[dict[str, Any]]]:
    return {k: [r for r in rows if r["rate"] == rate and r["kind"] == k] for k in ("separate", MANY)}


def _mean_costs(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Processor seconds of a training: means over rates and seeds, or seeds where rates share one."""
    found = {}
    for kind in dict.fromkeys(row["kind"] for row in rows):
        chosen = [row for row in rows if row["kind"] == kind]
        each = {(r["seed"], r["rate"] if kind == "separate" else 0): r["processor_seconds"] for r in chosen}
        found[kind] = statistics.mean(each.values())
    return found


def _table(rows: list[dict[str, Any]]) -> list[str]:
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    lines = [
        "| rate | kept | " + " | ".join(kinds) + " | difference |",
        "|---:|---:|" + "---:|" * (len(kinds) + 1),
    ]
    for rate in sorted({row["rate"] for row in rows}):
        here = {kind: [r for r in rows if r["rate"] == rate and r["kind"] == kind] for kind in kinds}
        cells = [
            f"{statistics.mean(r['accuracy'] for r in found):.2f} ({len(found)})" if found else "–"
            for found in here.values()
        ]
        kept = next(found[0]["weights_kept"] for found in here.values() if found)
        lines.append(f"| {rate:.1%} | {kept:,} | " + " | ".join(cells) + f" | {_difference(here)} |")
    lines += ["", *_verdict(rows), *_cost(rows, kinds)]
    return lines


def _difference(here: dict[str, list[dict[str, Any]]]) -> str:
    """At once less separate, over the seeds that both have, with the range over seeds."""
    pairs = _pairs(here)
    if len(pairs) < 2:
        return f"{pairs[0]:+.2f}" if pairs else ""
    return f"{statistics.mean(pairs):+.2f} ({min(pairs):+.1f} to {max(pairs):+.1f})"


def _pairs(here: dict[str, list[dict[str, Any]]]) -> list[float]:
    alone = {row["seed"]: row["accuracy"] for row in here.get("separate", [])}
    return [row["accuracy"] - alone[row["seed"]] for row in here.get(MANY, []) if row["seed"] in alone]


def _verdict(rows: list[dict[str, Any]]) -> list[str]:
    """How far every rate is from its separate nets, in words."""
    gaps, alone, count = {}, [], 0
    for rate in sorted({row["rate"] for row in rows if row["kind"] == "separate"}):
        if pairs := _pairs(_by_kind(rows, rate)):
            gaps[rate], count = statistics.mean(pairs), max(count, len(pairs))
            alone += [f"{rate:.0%} ({gap:+.1f})" for gap in pairs if gap < -2]
    if not gaps:
        return []
    wide = [f"{rate:.0%} ({gap:+.2f})" for rate, gap in gaps.items() if gap < -NEAR]
    said = f"In the mean of {count} seeds {len(gaps) - len(wide)} of {len(gaps)} rates are within 1 point"
    said += f"; not {', '.join(wide)}." if wide else "."
    said += f" The mean over the rates is {statistics.mean(gaps.values()):+.2f}."
    said += f" Single seeds beyond 2 points: {', '.join(alone)}." if alone else " No seed is beyond 2 points."
    return [said, ""]


def _cost(rows: list[dict[str, Any]], kinds: list[str]) -> list[str]:
    """What a training of each kind takes."""
    means = _mean_costs(rows)
    epochs = {kind: next(r["epochs"] for r in rows if r["kind"] == kind) for kind in kinds}
    lines = []
    for kind in kinds:
        said = f"- {kind}: {means[kind]:.1f} s for a training of {epochs[kind]} epochs"
        if kind == MANY:
            took = statistics.median(row["extraction_seconds"] for row in rows if row["kind"] == kind)
            said += f", as much as **{means[kind] / means['separate']:.2f} separate trainings**;"
            said += f" each extraction {took:.1f} s"
        lines.append(said + " (processor time, one thread)")
    return lines


def draw(rows: list[dict[str, Any]]) -> None:
    """Mean over seeds, a panel a data set."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["data"] for row in rows))
    picture = Figure(figsize=(5.6 * len(names), 4.0), layout="constrained")
    FigureCanvasAgg(picture)
    colours = {"separate": "#000000", MANY: "#d55e00"}
    for place, data in enumerate(names, 1):
        axes = picture.add_subplot(1, len(names), place)
        for kind, colour in colours.items():
            chosen = [row for row in rows if row["data"] == data and row["kind"] == kind]
            if not chosen:
                continue
            rates = sorted({row["rate"] for row in chosen})
            means = [statistics.mean(r["accuracy"] for r in chosen if r["rate"] == rate) for rate in rates]
            kept = [next(r["weights_kept"] for r in chosen if r["rate"] == rate) for rate in rates]
            axes.plot(kept, means, "o-", color=colour, label=kind, markersize=4)
            axes.plot(
                [r["weights_kept"] for r in chosen],
                [r["accuracy"] for r in chosen],
                ".",
                color=colour,
                alpha=0.35,
            )
        ticks = {
            round(1 - r["weights_kept"] / r["weights_total"], 4): r["weights_kept"]
            for r in rows
            if r["data"] == data
        }
        shown = {rate: kept for rate, kept in ticks.items() if rate in (0.8, 0.9, 0.95, 0.97, 0.98, 0.99)}
        axes.set(
            xscale="log", title=NAMES[data], xlabel="connections kept (pruning rate)", ylabel="accuracy, %"
        )
        axes.set_xticks(list(shown.values()), [f"{kept:,}\n{rate:.0%}" for rate, kept in shown.items()])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    with atomic_write(PICTURE) as part:
        picture.savefig(part, format="png", dpi=130)


if __name__ == "__main__":
    found = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    write_text(PAGE, page(found))
    draw(found)
