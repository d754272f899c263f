"""Make docs/frontier.md, its picture and the part of README.md that shows it, from the committed results.

    python benchmarks/frontier_page.py

It reads benchmarks/results/frontier-fpha.csv and frontier-shrec.csv (`bandstop study frontier-fpha` and
`frontier-shrec`), frontier_costs.json (frontier_costs.py), and frontier_published.toml. What is not there
yet is said on the page. `tests/docs/test_frontier_page.py` checks that the page is current.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from frontier_aims import fpha_table, markdown, rate_name, shrec_table
from frontier_picture import draw, short
from frontier_points import (
    CLAIMED,
    FILES,
    HERE,
    PANELS,
    RESULTS,
    Point,
    Published,
    level,
    on,
    read_points,
    read_published,
    verdict,
)

from bandstop.files import write_text
from bandstop.study.plan import Plan, read_plan
from bandstop.study.results import read_results
from bandstop.study.runs import expand
from bandstop.study.tables.groups import gather

ROOT = HERE.parent
PAGE, PICTURE, README = ROOT / "docs" / "frontier.md", ROOT / "docs" / "frontier.png", ROOT / "README.md"
COSTS = RESULTS / "frontier_costs.json"
BEGIN, END = "<!-- frontier: made by benchmarks/frontier_page.py -->", "<!-- end of frontier -->"
ALT = "Three panels: accuracy against weights on a logarithmic axis, bandstop's curve and published networks"
DATA = {"fpha": "fpha:PATH", "shrec-14": "shrec:PATH@14", "shrec-28": "shrec:PATH@28"}
NEEDED = 15
"""The program of the FPHA network with 98 % removed shall be so many times as fast as ONNX Runtime."""

INTRODUCTION = """# The frontier: accuracy at every size

How accurate is a recogniser of hand skeletons with 50,000 weights, with 5,000, with 2,000? This page has
bandstop's networks on two benchmarks that the field uses, published networks beside them, and what each of
ours costs to run. (The page is made by `python benchmarks/frontier_page.py`.)"""

HOW = """- **FPHA**: First-Person Hand Action, official split: 600 training, 575 test sequences, 45 actions.
- **SHREC'17**: the track of 2017, official split: 1,960 training, 840 test sequences, 14 or 28 gestures.
- Network and signal were chosen on held-out parts of the training splits
  ([which network](recipe.md#which-network)); the test splits were looked at once.
- Accuracy is in per cent, as mean ± standard deviation over seeds. The band of the picture is one standard
  deviation to either side."""

COMPARED = """Published sizes are of all parameters, ours in the picture of kept weights. Where the two are
compared here, what is not pruned (offsets and factors of normalisation) is counted for ours too."""


def page(
    points: Sequence[Point],
    published: Sequence[Published],
    sources: Mapping[str, Mapping[str, str]],
    costs: Mapping[str, Any],
) -> str:
    """The whole page."""
    parts = [INTRODUCTION, "", *_picture(points), "", "## How it was measured", ""]
    for name in FILES:
        plan = read_plan(name.removesuffix(".csv"))
        given = " ".join(f"--data {data}={kind}" for data, kind in DATA.items() if data in plan.text)
        parts += [f"    bandstop study {plan.name} {given} --out studies/{plan.name}", ""]
        parts += [f"{plan.about}{_missing(plan, RESULTS / name)}", ""]
    parts += [HOW, "", "## Against the aims", "", *fpha_table(points), ""]
    for data in ("shrec-14", "shrec-28"):
        parts += [*shrec_table(points, data), ""]
    parts += ["## Against published networks", "", COMPARED, "", *claim(points, published), ""]
    parts += ["### Published, size stated", "", *sized_table(points, published, sources), ""]
    parts += ["### Published, size not stated", "", *unsized_table(published, sources), ""]
    parts += ["## What each point costs", "", *costs_section(points, costs)]
    return "\n".join(parts) + "\n"


def _missing(plan: Plan, results: Path) -> str:
    """How many runs of a plan have no result yet, and of which methods, in a sentence."""
    rows = read_results([results]) if results.is_file() else []
    found = {(row.data, row.method, row.variant, row.rate, row.seed) for row in rows}
    runs = expand(plan)[0]
    places = [(a.data, a.method, a.variant, a.rate, a.seed) for a in (run.axes for run in runs)]
    missing = [run for run, place in zip(runs, places, strict=True) if place not in found]
    if not missing:
        return ""
    methods = ", ".join(sorted({run.axes.method for run in missing}))
    return f" **{len(missing)} of its {len(runs)} runs are not recorded yet** (of {methods})."


def _picture(points: Sequence[Point]) -> list[str]:
    return [f"![{ALT}](frontier.png)"] if points else ["The studies have no result file yet."]


def readme(text: str, points: Sequence[Point], published: Sequence[Published]) -> str:
    """README.md with its part about the frontier renewed; empty as long as nothing is measured."""
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    return "\n".join([head + BEGIN, *_headline(points, published), END + tail])


def _headline(points: Sequence[Point], published: Sequence[Published]) -> list[str]:
    if not points:
        return []
    said = [
        f"**{best.accuracy.mean:.1f} %** on {PANELS[data]} ({best.weights:,} weights)"
        for data in PANELS
        if (best := max(_claimed(points, data), key=lambda p: p.accuracy.mean, default=None))
    ]
    legend = f"Blue: bandstop, of at most {short(CLAIMED)} weights {'; '.join(said)}."
    legend += " Orange: published networks whose size is stated."
    if any(verdict(points, published, data).unknown for data in PANELS if on(points, data)):
        legend += " There are more accurate ones whose size is not stated."
    legend += " Sources, aims, microseconds and bytes: [the frontier](docs/frontier.md)."
    return ["", f"![{ALT}](docs/frontier.png)", "", legend, ""]


def _claimed(points: Sequence[Point], data: str) -> list[Point]:
    return [point for point in on(points, data) if point.weights <= CLAIMED]


def claim(points: Sequence[Point], published: Sequence[Published]) -> list[str]:
    """The claim, judged by the data: no published point above our curve at or below 50,000 weights."""
    found = {data: verdict(points, published, data) for data in PANELS if on(points, data)}
    if not found:
        return ["Not judged yet: nothing of ours is measured."]
    above = [(data, entry) for data, judged in found.items() for entry in judged.above]
    compared = sum(judged.compared for judged in found.values())
    lines = [
        f"**The claim: no published point lies above the curve at or below {CLAIMED:,} weights.** "
        + (_exceptions(above) if above else f"It holds, for the {compared} published points of that size.")
    ]
    if not compared:
        lines[0] = lines[0].rsplit("**", 1)[0] + "** " + _vacuous(points, published)
    unknown = [
        f"- {PANELS[data]}: "
        + ", ".join(f"{e.name} ({e.accuracy[data]:g})" for e in judged.unknown)
        + f"; ours {level(on(points, data), CLAIMED) or 0:.1f}."
        for data, judged in found.items()
        if judged.unknown
    ]
    if unknown:
        lines += ["", "Some published figures are higher, and their sources do not state a size. Where they"]
        lines += ["would stand in the picture is not known:", "", *unknown]
    return lines


def _exceptions(above: Sequence[tuple[str, Published]]) -> str:
    said = (f"{e.name} on {PANELS[data]} ({e.accuracy[data]:g}, {e.parameters:,})" for data, e in above)
    return f"It does not hold: {'; '.join(said)}."


def _vacuous(points: Sequence[Point], published: Sequence[Published]) -> str:
    """Nobody states so small a size: say what the smallest published networks are, and how we compare."""
    sized = [e for e in published if e.parameters is not None]
    smallest = min(sized, key=lambda e: e.parameters or 0)
    wins = [
        f"{level(on(points, data), CLAIMED) or 0:.1f} against its {figure:g} on {PANELS[data]}"
        for data, figure in smallest.accuracy.items()
        if on(points, data)
    ]
    text = "It holds, but for want of company: no source that we could open states so small a size."
    return (
        f"{text} The smallest published network with a size, {smallest.name}, has {smallest.parameters:,} "
        f"parameters; the best of ours with at most {CLAIMED:,} has "
        f"{' and '.join(wins) or 'not been measured on its data'}."
    )


def sized_table(
    points: Sequence[Point], published: Sequence[Published], sources: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """Published networks by size, and the best of ours that is no larger."""
    rows = [["network", "parameters", *_columns(), "source"]]
    for entry in sorted((e for e in published if e.parameters), key=lambda e: e.parameters or 0):
        size = f"{entry.parameters:,}" + (f" ({entry.remark})" if entry.remark else "")
        cells = []
        for data in PANELS:
            ours = level(on(points, data), entry.parameters or 0)
            beside = f" (ours {ours:.1f})" if ours is not None and data in entry.accuracy else ""
            cells.append(f"{entry.accuracy[data]:g}{beside}" if data in entry.accuracy else "")
        rows.append([entry.name, size, *cells, _link(entry, sources)])
    return [*markdown(rows), "", '"Ours" is the best of our networks that has no more parameters.']


def unsized_table(published: Sequence[Published], sources: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Figures without a size."""
    rows = [["network", *_columns(), "remark", "source"]]
    for entry in (e for e in published if not e.parameters):
        cells = [f"{entry.accuracy[data]:g}" if data in entry.accuracy else "" for data in PANELS]
        rows.append([entry.name, *cells, entry.remark, _link(entry, sources)])
    return markdown(rows)


def _columns() -> list[str]:
    return ["FPHA", "SHREC'17, 14", "SHREC'17, 28"]


def _link(entry: Published, sources: Mapping[str, Mapping[str, str]]) -> str:
    found = sources[entry.source]
    return f"[{found['title']}]({found['url']})"


def costs_section(points: Sequence[Point], costs: Mapping[str, Any]) -> list[str]:
    """Microseconds, flash and RAM of every network that was measured."""
    if not costs.get("runs"):
        return ["Not measured yet (`python benchmarks/frontier_costs.py STUDY…`)."]
    rows = [["network", "weights", "C, µs", "ONNX Runtime, µs", "times as fast", *_bytes_head()]]
    for run in sorted(costs["runs"].values(), key=lambda r: (r["data"], -r["kept"])):
        ours, runtime = run["microseconds"], run["onnx_runtime_microseconds"]
        name = f"{run['data']}, {rate_name(run['rate'])}"
        sizes = [f"{run[key]:,}" for key in ("flash_float32", "flash_int8", "ram_float32", "ram_int8")]
        times = [f"{ours:.2f}", f"{runtime:.1f}", f"{runtime / ours:.1f}×"]
        rows.append([name, f"{run['kept']:,}", *times, *sizes])
    return [
        "    python benchmarks/frontier_costs.py STUDY…",
        "",
        f"Seed 0 of each. Time of one inference from a finished signal, {costs['machine']}, one thread, "
        f"median of {costs['rounds']} rounds in which both take turns (ONNX Runtime {costs['versions']}, "
        "the same network). Flash and RAM in bytes are those of a Cortex-M4 image that is exported for size.",
        "",
        *markdown(rows),
        *_speed(costs["runs"].values()),
    ]


def _bytes_head() -> list[str]:
    return ["flash, float", "flash, int8", "RAM, float", "RAM, int8"]


def _speed(runs: Any) -> list[str]:
    """The promise about FPHA at 98 %, judged."""
    found = next((run for run in runs if (run["data"], run["rate"]) == ("fpha", 0.98)), None)
    if found is None:
        return []
    times = found["onnx_runtime_microseconds"] / found["microseconds"]
    said = "kept" if times >= NEEDED else "not kept"
    about = f"at least {NEEDED} times as fast as ONNX Runtime for FPHA with 98 % removed"
    return ["", f"The promise, {about}, is {said}: {times:.1f} times."]


def earlier_points() -> list[Point]:
    """What the GCN on motion had on FPHA (`bandstop study main`)."""
    rows = [row for row in read_results([RESULTS / "main.csv"]) if row.variant == "motion"]
    return sorted(
        (
            Point("fpha", g.method, g.rate, round(g.mean("weights_kept").mean), 0, g.mean("accuracy"))
            for g in gather(rows)
        ),
        key=lambda point: point.weights,
    )


def main() -> None:
    """Write page, picture and README."""
    points = read_points([RESULTS / name for name in FILES])
    published, sources = read_published()
    costs = json.loads(COSTS.read_text(encoding="utf-8")) if COSTS.is_file() else {}
    if points:
        draw(points, published, earlier_points(), PICTURE)
    write_text(PAGE, page(points, published, sources, costs))
    write_text(README, readme(README.read_text(encoding="utf-8"), points, published))


if __name__ == "__main__":
    main()
