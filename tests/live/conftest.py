"""A small stream recogniser, trained once for all tests of this folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from bandstop.live import LiveData, LiveResult, fit_live, live_config, make_hand_streams
from bandstop.live.stream import Stream
from bandstop.nets import NetConfig
from bandstop.skeleton.layouts import HAND
from bandstop.training.config import RunConfig

FEW = (4, 8, 12, 14)
"""Labels of the gestures that the small recogniser knows: wave, pour, grasp, count up."""


@dataclass(frozen=True)
class SmallLive:
    """A trained run and what it was trained on."""

    run: Path
    config: RunConfig
    data: LiveData
    result: LiveResult


def only_few(stream: Stream) -> Stream:
    """The stream with the gestures of ``FEW`` alone marked; the others count as something else."""
    kept = tuple(type(g)(g.begin, g.end, FEW.index(g.label)) for g in stream.gestures if g.label in FEW)
    return Stream(stream.joints, kept, stream.subject, stream.frames_per_second)


@pytest.fixture(scope="session")
def small_live(tmp_path_factory: pytest.TempPathFactory) -> SmallLive:
    """Four gestures of the embedded hands, 90 % pruned, a minute of training at most."""
    made = make_hand_streams(5, people=(4, 2, 1), repetitions=(6, 3, 2))
    names = tuple(made.class_names[label] for label in FEW)
    groups = [tuple(map(only_few, group)) for group in (made.train, made.validation, made.test)]
    data = LiveData(*groups, names, np.array(HAND.edges), HAND.root, HAND.joint_names)
    run = tmp_path_factory.mktemp("live") / "run"
    config = live_config(
        RunConfig(rate=0.9, epochs=60, chunks=16, net=NetConfig(kind="gcn", heads=4, filters=8))
    )
    return SmallLive(run, config, data, fit_live(config, data, run, false_alarms=2.0))
