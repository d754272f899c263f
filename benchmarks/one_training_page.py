"""Make docs/one-training.md and its picture from one_training.json, …_tcn.json and …_trials.json.

python benchmarks/one_training_page.py
"""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

from bandstop.files import atomic_write, write_text

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "one_training.json", ROOT / "docs" / "one-training.md"
PICTURE = ROOT / "docs" / "one-training.png"
TEXT = ROOT / "benchmarks" / "one_training_page.txt"
MANY, FREE = "at once, held", "at once, empirical"
NEAR = 1.0  # points that a rate may be behind its separate nets
NAMES = {
    "hands-tcn": "built-in hands, TCN",
    "fpha-tcn": "FPHA, TCN",
    "hands": "built-in hands, GCN",
    "fpha": "FPHA, GCN",
}


def read_rows() -> list[dict[str, Any]]:
    """The rows of both networks, those of the TCN under names of their own, in the order of ``NAMES``."""
    tcn = _read(RESULTS.with_stem("one_training_tcn"))
    rows = _read(RESULTS) + [{**row, "data": f"{row['data']}-tcn"} for row in tcn]
    return sorted(rows, key=lambda row: list(NAMES).index(row["data"]))


def _read(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return found


def _trials(rows: list[dict[str, Any]]) -> str:
    """Differences to separate nets of the same quarter, a row per trial."""
    rates = sorted({row["rate"] for row in rows})
    alone = {(r["seed"], r["rate"]): r["accuracy"] for r in rows if r["kind"] == "separate"}
    lines = ["| settings | " + " | ".join(f"{rate:.0%}" for rate in rates) + " | all | quarters |"]
    lines.append("|---|" + "---:|" * (len(rates) + 2))
    tried = [row for row in rows if "trial" in row]
    for kind, trial in dict.fromkeys((row["kind"], row["trial"]) for row in tried):
        own = [row for row in tried if (row["kind"], row["trial"]) == (kind, trial)]
        cells = []
        for rate in (*rates, None):
            seeds = sorted({row["seed"] for row in own})
            each = [
                statistics.mean(
                    row["accuracy"] - alone[row["seed"], row["rate"]]
                    for row in own
                    if row["seed"] == seed and rate in (None, row["rate"])
                )
                for seed in seeds
            ]
            error = f" ± {statistics.stdev(each) / len(each) ** 0.5:.1f}" if len(each) > 1 else ""
            cells.append(f"{statistics.mean(each):+.1f}{error}")
        name = f"{kind.removeprefix('at once, ')}, {trial}"
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {len(seeds)} |")
    return "\n".join(lines) + "\n"


def page(rows: list[dict[str, Any]]) -> str:
    """The whole page."""
    parts = [
        TEXT.read_text(encoding="utf-8")
        .replace("@VERDICT@", _summary(rows))
        .replace("@TRIALS@", _trials(_read(RESULTS.with_stem("one_training_trials")))),
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
    for data, kind in dict.fromkeys((row["data"], row["kind"]) for row in rows if row["kind"] != "separate"):
        own = [row for row in rows if row["data"] == data]
        pairs = [_pairs(_by_kind(own, rate), kind) for rate in rates]
        shown = [_gap(found) for found in pairs]
        means, seeds = _mean_costs(own), max(map(len, pairs))
        name = f"{NAMES[data]}, {kind.removeprefix('at once, ')} ({seeds} seed{'s' * (seeds > 1)})"
        lines.append(f"| {name} | " + " | ".join(shown) + f" | {means[kind] / means['separate']:.2f} |")
    return "\n".join([*lines, "", "Bold: the aim is missed."]) + "\n"


def _gap(pairs: list[float]) -> str:
    if not pairs:
        return "–"
    gap = statistics.mean(pairs)
    return f"{gap:+.2f}" if gap >= -NEAR else f"**{gap:+.2f}**"


def _by_kind(rows: list[dict[str, Any]], rate: float) -> dict[str, list[dict[str, Any]]]:
    return {k: [r for r in rows if r["rate"] == rate and r["kind"] == k] for k in ("separate", MANY, FREE)}


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
        "| rate | kept | " + " | ".join(kinds) + " | held less separate |",
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


def _pairs(here: dict[str, list[dict[str, Any]]], kind: str = MANY) -> list[float]:
    alone = {row["seed"]: row["accuracy"] for row in here.get("separate", [])}
    return [row["accuracy"] - alone[row["seed"]] for row in here.get(kind, []) if row["seed"] in alone]


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
    near, seeds = len(gaps) - len(wide), f"{count} seed{'s' * (count > 1)}"
    said = f"In the mean of {seeds} {near} of {len(gaps)} rates are within 1 point"
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
        if kind != "separate":
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
    picture = Figure(figsize=(11.2, 4.0 * math.ceil(len(names) / 2)), layout="constrained")
    FigureCanvasAgg(picture)
    colours = {"separate": "#000000", MANY: "#d55e00", FREE: "#0072b2"}
    for place, data in enumerate(names, 1):
        axes = picture.add_subplot(math.ceil(len(names) / 2), 2, place)
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
    found = read_rows()
    write_text(PAGE, page(found))
    draw(found)
