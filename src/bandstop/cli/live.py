"""`bandstop live`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from bandstop.cli.parse import Folder, glance, parse
from bandstop.training.config import RunConfig
from bandstop.training.presets import live_config
from bandstop.training.resume import stored_config

if TYPE_CHECKING:
    from bandstop.live.fit import LiveResult
    from bandstop.live.measures import StreamMeasures

__all__ = ["Live", "main"]


@dataclass(frozen=True)
class Live:
    """Train a recogniser for continuous streams, in which most of the time nothing happens.

    DATA as for `bandstop train`: cut-out gestures are joined to streams; the sequences of a class called none
    are idle recordings. The threshold is chosen on validation streams for the rate of false alarms that you
    name.

    Examples:
      bandstop live hands --rate 0.98 --false-alarms 1/min --out runs/live98
      bandstop live my_gestures/ --bytes 8000 --false-alarms 6/hour --out runs/mine
    """

    out: Folder
    """Folder of the run."""
    config: Annotated[RunConfig, tyro.conf.arg(name="")] = field(
        default_factory=lambda: live_config(RunConfig(epochs=120))
    )
    false_alarms: Annotated[str, tyro.conf.arg(metavar="NUMBER/UNIT")] = "1/min"
    """How many false alarms are accepted; the unit is second, min or hour."""
    frames_per_second: float = 30.0
    """Rate of the recordings."""
    resume: bool = False
    """Continue the interrupted run in --out with the settings stored there."""
    quiet: bool = False
    """Show nothing while training."""


@dataclass(frozen=True)
class _Decisive:
    """The flags that decide what the others start from."""

    out: Path | None = None
    resume: bool = False


def asked_for(arguments: Sequence[str]) -> Live:
    """The command line, read in two steps as that of `bandstop train`."""
    first = glance(_Decisive, arguments)
    if first.resume and first.out is not None:
        return parse(Live, "live", arguments, Live(out=tyro.MISSING, config=stored_config(first.out)))
    return parse(Live, "live", arguments)


def main(arguments: Sequence[str]) -> int:
    """Train, choose the threshold, print what was measured."""
    asked = asked_for(arguments)

    from bandstop.cli.show import tell_dropped
    from bandstop.live.calibrate import parse_false_alarms
    from bandstop.live.data import load_live_data
    from bandstop.live.fit import fit_live
    from bandstop.training.progress import Progress

    accepted = parse_false_alarms(asked.false_alarms)
    data = load_live_data(
        asked.config.data,
        seed=0,
        frames_per_second=asked.frames_per_second,
        reading=asked.config.reading,
        drop=asked.config.drop,
        say=tell_dropped,
    )
    with Progress(asked.out.name, asked.config.epochs, quiet=asked.quiet) as show:
        result = fit_live(
            asked.config, data, asked.out, false_alarms=accepted, resume=asked.resume, show=show
        )
    print("\n".join(_lines(result, asked.frames_per_second)))
    return 0


def _lines(result: LiveResult, rate: float) -> list[str]:
    found = result.calibrated
    lines = [f"threshold {found.rule.threshold:g}, chosen for {found.asked:g} false alarms a minute"]
    if not found.met:
        lines.append(
            "the validation streams had more: record more of what lies between gestures, or train longer"
        )
    lines.append(_line("validation streams", found.measures, rate))
    if result.test is not None:
        lines.append(_line("test streams", result.test, rate))
    return lines


def _line(what: str, m: StreamMeasures, rate: float) -> str:
    delay = m.delay_frames / rate
    named = "" if math.isnan(delay) else f", named {delay:.2f} s after the end (median)"
    return (
        f"{what}: {m.detection_rate:.1%} of {m.gestures} gestures found, "
        f"{m.false_alarms_per_minute:.2f} false alarms a minute, Jaccard index {m.jaccard_index:.2f}{named}"
    )
