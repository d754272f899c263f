"""`bandstop calibrate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import tyro

from bandstop.cli.parse import MaybeData, RunArgument, parse

__all__ = ["Calibrate", "main"]


@dataclass(frozen=True)
class Calibrate:
    """Let a finished run say "none of these": an honest confidence and a threshold, stored with the model.

    Both are chosen on recordings that the run was not trained on: DATA, or what --validation held out.
    Recordings of classes that the run does not know, such as one called none, stand for what it shall not
    name. Afterwards `predict` and every export answer none where the confidence is too low.

    Examples:
      bandstop calibrate runs/mine --data more_recordings/ --false-alarms 1/min
      bandstop calibrate runs/mine --false-alarms 2%
    """

    run: RunArgument
    """Run folder, or its model.safetensors."""
    data: MaybeData = None
    """Recordings that training never saw, named as for `bandstop train`."""
    false_alarms: Annotated[str, tyro.conf.arg(metavar="RATE")] = "1/min"
    """How many wrong names are accepted: a number a second, min or hour of recording, or a share of the
    recordings such as 2%."""
    frames_per_second: float = 30.0
    """Rate of the recordings."""


def main(arguments: Sequence[str]) -> int:
    """Choose, store and print."""
    asked = parse(Calibrate, "calibrate", arguments)

    from dataclasses import replace

    from bandstop.cli.show import tell_dropped
    from bandstop.errors import ConfigError
    from bandstop.record.folder import LIVE, MODEL
    from bandstop.training.calibrate import choose_rejection, recordings_to_calibrate
    from bandstop.training.model_file import load_recogniser, save_recogniser

    path = asked.run / MODEL if asked.run.is_dir() else asked.run
    if (path.parent / LIVE).is_file():
        raise ConfigError(
            "a run of `bandstop live` has its threshold already; `predict` and `export` take --false-alarms"
        )
    recogniser = load_recogniser(path)
    source = recordings_to_calibrate(recogniser, asked.data, tell_dropped)
    rule = choose_rejection(recogniser, source, asked.false_alarms, frames_per_second=asked.frames_per_second)
    save_recogniser(replace(recogniser, rejection=rule), path)
    wrong, right = next((wrong, right) for t, wrong, right in rule.curve if t == rule.threshold)
    print(
        f"threshold {rule.threshold:g} at temperature {rule.temperature:g}, "
        f"for {asked.false_alarms} false alarms"
    )
    if not rule.met:
        print("the recordings had more: train longer, or record more of what is none of the classes")
    print(
        f"of {rule.recordings} recordings ({rule.minutes:.1f} min) {right} were named rightly, {wrong} "
        f"wrongly, {rule.recordings - right - wrong} are none of these"
    )
    return 0
