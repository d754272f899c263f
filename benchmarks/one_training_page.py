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

    bandstop train hands --rates 0.8:0.99 --out runs/any
    bandstop extract runs/any --rate 0.97 --out runs/any97

`bandstop extract` takes a rate, a number of weights, bytes or MACs. The result has exactly so many
connections, all of them live. It is a run folder like any other: `evaluate`, `predict`, `export` and `report`
read it.

In a loop of your own:

    from bandstop import MultiRatePruner

    pruner = MultiRatePruner(model, (0.8, 0.99), steps=epochs * len(loader))
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
- **Nothing is retrained**, but the running statistics of batch normalisation belong to one rate. `extract`
  measures them again on training data (`batches`, or the data of the run), which takes about a second.
  Networks without such layers need no data.
- **Live connections.** Dead connections are replaced at extraction. Replacements cannot be nested one by one,
  since a new unit needs two connections at once to be live.
- **Shares of layers** come from the prior, as in a training for a single rate.

## What it costs in accuracy

One training is near separate ones, not equal to them: at almost every rate its mean is behind, by a point or
so. It takes three times the epochs of a separate network, so it costs as much as the six separate networks of
these tables together, or more. What it saves is every further budget.

    python benchmarks/one_training.py --data fpha=PATH --data hands=hands --runs FOLDER \\
        --out benchmarks/results/one_training.json

Accuracy on the test split in per cent; default settings; one thread of a shared x86-64 machine with two
cores.

- "separate": one network trained for each rate.
- "at once": one network for all rates from 0.8 to 0.99; every figure is extracted from it, also at rates that
  no separate network has. A step has three passes over the same batch: at the lowest rate, at a drawn one and
  at the highest. The last two also learn from what the lowest predicts.
- Figures are means over seeds (their number in brackets). The last column is the mean difference over the
  seeds that both have, with the smallest and largest where there are several. FPHA has one seed only.
- A test split has 575 sequences (FPHA) or 560 (hands): one point is six of them. Separate networks differ by
  about as much from seed to seed. Separate networks with as many epochs may be better too; that was not
  measured.

**How settings were chosen.** On a quarter of the training split held out, with one or two seeds, so only
large differences were read. On the hands, a hard gate without leak was ahead of a hard gate with leak 1 by
about 3 points in the mean over rates, and of the soft gate of a single training by about 27. Not taken up:
rates drawn up to 99.5 % (10 points fewer at 99 %, one seed); dropout at rates up to 98 % only (better by less
than a point on FPHA, worse by 3 on the hands, one seed each); a moving average of the weights (no difference,
one seed). Twice the epochs instead of one gave 6 points at 99 % (one seed).

**Two choices were made after a look at the test split**, so these tables flatter them. With twice the epochs
the hands' first seed was 2.2 points behind at 80 % and 4.1 at 99 %. Then the epochs were raised to three
times. And the highest pass, once the order of the connections is fixed, was put at the rate that the highest
budget is really extracted from (dead connections are not extracted). The two were not measured apart. The
other seeds and FPHA were measured afterwards, with nothing changed.
"""


def page(rows: list[dict[str, Any]]) -> str:
    """The whole page."""
    parts = [
        TEXT,
        "![Accuracy against the number of kept connections](one-training.png)",
        "",
    ]
    for data in dict.fromkeys(row["data"] for row in rows):
        parts += [f"### {NAMES[data]}", "", *_table([row for row in rows if row["data"] == data]), ""]
    return "\n".join(parts)


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
        here = {k: [r for r in rows if r["rate"] == rate and r["kind"] == k] for k in ("separate", MANY)}
        if pairs := _pairs(here):
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
    """Processor seconds: of a separate training in the mean over rates and seeds, of the one training over
    seeds.
    """
    each = {
        kind: {(r["seed"], r["rate"] if kind == "separate" else 0): r["processor_seconds"] for r in rows
               if r["kind"] == kind}
        for kind in kinds
    }  # fmt: skip
    means = {kind: statistics.mean(found.values()) for kind, found in each.items()}
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
