"""`bandstop train`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from bandstop.cli.parse import Folder, glance, parse
from bandstop.training.config import RunConfig
from bandstop.training.presets import starting_config
from bandstop.training.resume import stored_config

__all__ = ["Train", "main"]


@dataclass(frozen=True)
class Train:
    """Train a recogniser on skeleton sequences to an exact budget of connections.

    DATA is `hands` (embedded), a folder with one sub-folder per class, or one of the forms below. Without a
    budget the network stays dense.

    Examples:
      bandstop train hands --rate 0.98 --prior laplace --seed 0 --epochs 400 --out runs/hands98
      bandstop train my_gestures/ --weights 800 --out runs/mine
      bandstop train hands --macs 20000 --out runs/small
      bandstop train hands --rates 0.8:0.99 --out runs/any
      bandstop train hands --rate 0.98 --preset paper --out runs/paper98
      bandstop train --resume --out runs/hands98
    """

    out: Folder
    """Folder of the run."""
    config: Annotated[RunConfig, tyro.conf.arg(name="")] = field(default_factory=RunConfig)
    resume: bool = False
    """Continue the interrupted run in --out with the settings stored there."""
    tensorboard: bool = False
    """Write curves for TensorBoard to OUT/tensorboard."""
    no_report: bool = False
    """Leave out the page of pictures, OUT/report.html."""
    quiet: bool = False
    """Show nothing while training."""
    checkpoint_seconds: float = 20.0
    """Save a checkpoint about this often."""


@dataclass(frozen=True)
class _Decisive:
    """The flags that decide what the others start from."""

    out: Path | None = None
    resume: bool = False
    preset: str | None = None
    rates: str | None = None


def asked_for(arguments: Sequence[str]) -> Train:
    """The command line, read in two steps: what its flags start from, then all of them.

    They start from the stored settings with ``--resume``, from the preset with ``--preset`` or ``--rates``,
    and else from the defaults. `--help` shows the values that they start from.
    """
    first = glance(_Decisive, arguments)
    if first.resume and first.out is not None:
        config = stored_config(first.out)
    else:
        config = starting_config(first.preset, rates=first.rates is not None)
    return parse(Train, "train", arguments, Train(out=tyro.MISSING, config=config))


def main(arguments: Sequence[str]) -> int:
    """Train, then print the small table."""
    asked = asked_for(arguments)

    from bandstop.cli.show import tell_dropped, tell_run
    from bandstop.training.progress import Progress
    from bandstop.training.run import train_run

    with Progress(asked.out.name, asked.config.epochs, quiet=asked.quiet) as show:
        metrics = train_run(
            asked.config,
            asked.out,
            resume=asked.resume,
            show=show,
            tensorboard=asked.tensorboard,
            checkpoint_seconds=asked.checkpoint_seconds,
            announce=lambda plan: None if asked.quiet else print(plan, file=sys.stderr),
            say_dropped=tell_dropped,
        )
    tell_run(asked.out, metrics, report=not asked.no_report)
    return 0
