"""The benchmark's results as a table between two markers of a Markdown page."""

from __future__ import annotations

from pathlib import Path

START, END = "<!-- deploy table: made by benchmarks/deploy.py --table -->", "<!-- end of deploy table -->"


def table_text(results: dict) -> str:
    """Latencies in microseconds; then how many times faster than ONNX Runtime and than the best rival."""
    rivals = list(dict.fromkeys(name for run in results["runs"].values() for name in run["rivals"]))
    head = [
        "network",
        "kept",
        "bandstop C",
        *rivals,
        "÷ ONNX Runtime",
        "÷ best rival",
        "flash f32 / int8",
        "RAM",
        "bytes file",
    ]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for key, run in results["runs"].items():
        ours = run["ours"]
        times = {name: found.get("microseconds") for name, found in run["rivals"].items()}
        known = {name: t for name, t in times.items() if t}
        best = min(known.values(), default=None)
        runtime = known.get("ONNX Runtime")
        cells = [key, f"{run['kept']:,}", f"**{ours['microseconds']:.3g}**"]
        cells += [f"{times[name]:.3g}" if times.get(name) else "–" for name in rivals]
        cells += [f"{t / ours['microseconds']:.0f}×" if t else "–" for t in (runtime, best)]
        cells += [
            f"{ours['flash_float32']:,} / {ours['flash_int8']:,}",
            f"{ours['ram_float32']:,}",
            f"{ours['bytes_file']:,}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write_table(results: dict, page: Path) -> None:
    """Replace what is between the markers."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    page.write_text(f"{before}{START}\n{table_text(results)}\n{END}{after}", encoding="utf-8")
