"""`bandstop train`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import tyro

from bandstop.cli.parse import parse
from bandstop.cli.show import run_table
from bandstop.training.config import RunConfig
from bandstop.training.folder import open_folder
from bandstop.training.presets import held, many_rates, paper
from bandstop.training.progress import Progress
from bandstop.training.run import train_run

__all__ = ["Train", "main"]


@dataclass(frozen=True)
class Train:
    """Train a recogniser on skeleton sequences to an exact budget of connections.

    DATA is `hands` (embedded), fpha:PATH, sbu:PATH[@FOLD], utd-mhad:PATH, pyskl:PATH, mediapipe:PATH, a folder with one
    sub-folder per class, or a sequence archive .npz. Without a budget the network stays dense.

    Examples:
      bandstop train hands --rate 0.98 --prior laplace --seed 0 --epochs 400 --out runs/hands98
      bandstop train my_gestures/ --weights 800 --out runs/mine
      bandstop train hands --macs 20000 --out runs/small
      bandstop train hands --rates 0.8:0.99 --out runs/any
      bandstop train hands --rate 0.98 --preset paper --epochs 2700 --out runs/paper98
    """

    out: Path
    """Folder of the run."""
    config: Annotated[RunConfig, tyro.conf.arg(name="")] = field(default_factory=RunConfig)
    resume: bool = False
    """Continue an interrupted run with the settings stored in its folder."""
    tensorboard: bool = False
    """Write curves for TensorBoard to OUT/tensorboard."""
    no_report: bool = False
    """Leave out the page of pictures, OUT/report.html."""
    quiet: bool = False
    """Show nothing while training."""
    checkpoint_seconds: float = 20.0
    """Save a checkpoint about this often."""


def main(arguments: Sequence[str]) -> int:
    """Train, then print the small table."""
    default = None
    if _preset("paper", arguments):
        default = Train(out=tyro.MISSING, config=paper(RunConfig(epochs=2700)))
    elif _preset("held", arguments):
        default = Train(out=tyro.MISSING, config=held(RunConfig()))
    elif any(word.partition("=")[0] == "--rates" for word in arguments):
        default = Train(out=tyro.MISSING, config=many_rates(RunConfig()))
    asked = parse(Train, "train", arguments, default)
    config = open_folder(asked.config, asked.out, asked.resume)
    with Progress(asked.out.name, config.epochs, quiet=asked.quiet) as show:
        metrics = train_run(
            config,
            asked.out,
            resume=asked.resume,
            show=show,
            tensorboard=asked.tensorboard,
            checkpoint_seconds=asked.checkpoint_seconds,
        )
    if not asked.no_report:
        from bandstop.report.page import write_report

        write_report(asked.out)
    print(run_table({asked.out.name: metrics}))
    return 0


def _preset(name: str, arguments: Sequence[str]) -> bool:
    """Whether the preset is asked for: it changes the defaults that the other flags start from."""
    words = list(arguments)
    return f"--preset={name}" in words or any(a == "--preset" and b == name for a, b in pairwise(words))
