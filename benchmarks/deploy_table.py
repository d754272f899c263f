"""The benchmark's results as tables between markers of two Markdown pages, and as a picture."""

from __future__ import annotations

from pathlib import Path

START, END = "<!-- deploy-table -->", "<!-- /deploy-table -->"


def ordered(results: dict) -> list[tuple[str, float, dict]]:
    """``(size, share removed, figures)`` of every network, small ones and dense ones first."""
    runs = [(name.split("-")[0], float(name.split("-")[1]), run) for name, run in results["runs"].items()]
    return sorted(runs, key=lambda r: (int(r[0].rstrip("k")), r[1]))


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def times_of(run: dict) -> dict[str, float]:
    """Microseconds of the rivals that ran."""
    return {name: r["microseconds"] for name, r in run["rivals"].items() if "microseconds" in r}


def latency_table(results: dict) -> str:
    """Microseconds of every program; how many times faster ours is;
    nanoseconds per live multiply-accumulate.
    """
    names = list(dict.fromkeys(n for run in results["runs"].values() for n in run["rivals"]))
    head = ["network", "kept", "bandstop C", *names, "÷ ONNX Runtime", "÷ best rival", "ns per live MAC"]
    rows = []
    for size, rate, run in ordered(results):
        ours, times = run["ours"]["microseconds"], times_of(run)
        runtime, best = times.get("ONNX Runtime"), min(times.values(), default=None)
        row = [f"{size.replace('k', ' k')}, {100 * rate:.0f} %", f"{run['kept']:,}", f"**{ours:.3g}**"]
        row += [f"{times[n]:.3g}" if n in times else "–" for n in names]
        row += [f"{t / ours:.3g}×" if t else "–" for t in (runtime, best)]
        rows.append([*row, f"{1000 * ours / max(run['ours']['live_macs'], 1):.3f}"])
    return _table(head, rows)


def size_table(results: dict) -> str:
    """Sizes on a Cortex-M4, the smallest file, instructions on this machine,
    and how long export and compiler took.
    """
    head = ["network", "flash f32", "flash int8", "RAM f32", "RAM int8", "bytes file", "its limit"]
    head += ["instructions", "export, s", "compile, s"]
    rows = []
    for size, rate, run in ordered(results):
        o = run["ours"]
        numbers = ("flash_float32", "flash_int8", "ram_float32", "ram_int8", "bytes_file", "bytes_limit")
        cells = [f"{o[k]:,}" if o[k] is not None else "–" for k in (*numbers, "instructions")]
        name = f"{size.replace('k', ' k')}, {100 * rate:.0f} %"
        rows.append([name, *cells, f"{o['export_seconds']:.1f}", f"{o['compile_seconds']:.1f}"])
    return _table(head, rows)


def readme_table(results: dict) -> str:
    """The README's short form."""
    rows = []
    for size, rate, run in ordered(results):
        times = times_of(run)
        if rate < 0.95 or not times:
            continue
        best = min(times, key=lambda n: times[n])
        ours, runtime = run["ours"]["microseconds"], times.get("ONNX Runtime", float("nan"))
        name = f"{size.replace('k', ' k')} weights, {100 * rate:.0f} % removed"
        row = [name, f"**{ours:.3g} µs**", f"{runtime:.3g} µs ({runtime / ours:.0f}×)"]
        rows.append([*row, f"{times[best]:.3g} µs, {best} ({times[best] / ours:.0f}×)"])
    return _table(["network", "bandstop C", "ONNX Runtime", "fastest other runtime"], rows)


def replace_region(page: Path, text: str) -> bool:
    """Put ``text`` between the markers; False where the page has none."""
    whole = page.read_text(encoding="utf-8")
    if START not in whole:
        return False
    before, rest = whole.split(START, 1)
    page.write_text(f"{before}{START}\n{text}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")
    return True


def draw(results: dict, path: Path) -> None:
    """Latency against kept weights, both logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for panel, size in zip(axes, ("39k", "251k"), strict=True):
        runs = [(run["kept"], run) for s, _, run in ordered(results) if s == size]
        names = list(dict.fromkeys(n for _, run in runs for n in times_of(run)))
        for name in names:
            points = [(kept, times_of(run)[name]) for kept, run in runs if name in times_of(run)]
            panel.plot(*zip(*points, strict=True), marker=".", linewidth=1, label=name)
        ours = [(kept, run["ours"]["microseconds"]) for kept, run in runs]
        if ours:
            panel.plot(*zip(*ours, strict=True), marker="o", color="black", linewidth=2, label="bandstop C")
        panel.set(xscale="log", yscale="log", xlabel="kept weights", title=f"{size.replace('k', ' k')} GCN")
        panel.grid(alpha=0.3)
    axes[0].set_ylabel("one inference, one core (µs)")
    axes[1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=130)


def page_tables(results: dict) -> str:
    """What docs/deploy.md shows."""
    about = (
        f"Measured on {results['machine']}, data: {results['data']}; `{results['command']}`. "
        + "Versions: "
        + ", ".join(f"{n} {v}" for n, v in results["versions"].items())
        + "."
    )
    picture = "![Time of one inference against the number of kept weights, for every runtime](deploy.png)"
    return "\n\n".join((about, latency_table(results), picture, size_table(results)))


def write_all(results: dict, root: Path) -> None:
    """Both pages' tables and the picture."""
    replace_region(root / "docs" / "deploy.md", page_tables(results))
    if not replace_region(root / "README.md", readme_table(results)):
        print("README.md has no deploy-table markers; its table was not written")
    draw(results, root / "docs" / "deploy.png")
