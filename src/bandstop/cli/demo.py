"""`bandstop demo`."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bandstop.cli.parse import Folder, parse

__all__ = ["Demo", "main"]


@dataclass(frozen=True)
class Demo:
    """Train a dense and a pruned recogniser on embedded hand motions; print both and make a page of pictures.

    The pruned net learns from the dense one (distillation), so its full cost is both trainings.

    Examples:
      bandstop demo
      bandstop demo --rate 0.99 --epochs 200
    """

    out: Folder = Path("demo")
    """Folder for both runs and the page; what an earlier demo left there is replaced."""
    rate: float = 0.98
    """Share of the connections to remove."""
    epochs: int = 120
    """Epochs of each training."""
    seed: int = 0
    """Seed of everything random."""


def main(arguments: Sequence[str]) -> int:
    """Run the main road end to end."""
    asked = parse(Demo, "demo", arguments)

    from bandstop.cli.show import run_table
    from bandstop.files import write_text
    from bandstop.record.folder import CONFIG, REPORT
    from bandstop.report.page import write_report
    from bandstop.training.config import DistillConfig, RunConfig
    from bandstop.training.progress import Progress
    from bandstop.training.run import train_run

    dense = RunConfig(data="hands", method="dense", seed=asked.seed, epochs=asked.epochs)
    folders = {"dense": asked.out / "dense", f"pruned {asked.rate:.1%}": asked.out / "pruned"}
    teacher = DistillConfig(teachers=(str(asked.out / "dense"),))
    pruned = replace(dense, method="pmp", rate=asked.rate, distill=teacher)
    results = {}
    for (name, folder), config in zip(folders.items(), (dense, pruned), strict=True):
        if (folder / CONFIG).is_file():
            shutil.rmtree(folder)
        with Progress(name, config.epochs) as show:
            results[name] = train_run(config, folder, show=show)
    page = write_report(asked.out / "pruned", compare=[asked.out / "dense"])
    write_text(asked.out / REPORT, page.read_text(encoding="utf-8"))
    print(run_table(results))
    print(f"pictures: {asked.out / REPORT}")
    return 0
