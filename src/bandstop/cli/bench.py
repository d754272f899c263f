"""`bandstop bench`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bandstop.cli.parse import MaybeData, MaybeFolder, RunArgument, parse

if TYPE_CHECKING:
    from bandstop.deploy.bench import Row

__all__ = ["Bench", "main"]


@dataclass(frozen=True)
class Bench:
    """Measure size, memory, latency and instructions of every export of a run, and of installed runtimes.

    Examples:
      bandstop bench runs/hands98
      bandstop bench runs/hands98 --seconds 5
    """

    run: RunArgument
    """Run folder, or its model.safetensors."""
    data: MaybeData = None
    """Data to run on, named as for `bandstop train` (the run's own by default)."""
    seconds: float = 1.0
    """Time for each runtime."""
    out: MaybeFolder = None
    """Folder for bench.json and bench.png (RUN/export by default)."""


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table, write it and a picture."""
    asked = parse(Bench, "bench", arguments)

    from bandstop.cli.deploy_run import run_to_deploy
    from bandstop.deploy import ExportOptions, make_c, signals_of
    from bandstop.deploy.bench import bench_model, table
    from bandstop.deploy.ram import smaller_ram
    from bandstop.files import write_text

    model, samples = run_to_deploy(asked.run, data=asked.data, most=64)
    inputs = signals_of(model, samples.sequences)
    rows = bench_model(model, inputs, seconds=asked.seconds, show=_tell)
    folder = asked.out or (asked.run if asked.run.is_dir() else asked.run.parent) / "export"
    write_text(folder / "bench.json", json.dumps([row.as_dict() for row in rows], indent=1) + "\n")
    _draw(rows, folder / "bench.png")
    print(f"network: {model.size_text}")
    print(table(rows))
    options = ExportOptions(aim="size")
    advice = smaller_ram(model, make_c(model, options), options, inputs)
    if advice:
        print("\n".join(["`C for size` needs less RAM with", *(f"  {line}" for line in advice)]))
    return 0


def _tell(path: str) -> None:
    print(f"measuring {path} …", file=sys.stderr, flush=True)


def _draw(rows: list[Row], path: Path) -> None:
    from matplotlib.figure import Figure

    from bandstop.files import atomic_write

    timed = [(row.path, row.microseconds) for row in rows if row.microseconds is not None][::-1]
    figure = Figure(figsize=(7, 0.45 * len(timed) + 1), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh([name for name, _ in timed], [value for _, value in timed], color="#3b6ea5")
    axes.bar_label(bars, fmt="%.3g µs", padding=3)
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.set_xlabel("one inference, one thread (µs, median, logarithmic)")
    axes.spines[["top", "right"]].set_visible(False)
    with atomic_write(path) as part:
        figure.savefig(part, dpi=150, format="png")
