"""From a finished recogniser to what is exported, and the real inputs that the export is checked on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.cli.show import tell_dropped
from bandstop.deploy import DeployModel
from bandstop.deploy.model import AS_TRAINED
from bandstop.engine import trace
from bandstop.errors import ConfigError, ExportError
from bandstop.record.rejection import Rejection
from bandstop.skeleton.split import train_and_test
from bandstop.skeleton.unusable import mentioning
from bandstop.training.model_file import Recogniser, load_recogniser
from bandstop.training.recordings import recordings_for

__all__ = ["Samples", "rejection_for", "run_to_deploy"]


@dataclass(frozen=True)
class Samples:
    """Raw sequences and their classes."""

    sequences: list[NDArray[np.float32]]
    labels: NDArray[np.int64]


def run_to_deploy(
    run: str | Path,
    *,
    data: str | None = None,
    most: int | None = None,
    units: str = AS_TRAINED,
    false_alarms: str | None = None,
) -> tuple[DeployModel, Samples]:
    """What is exported of a run folder and what it is checked on; the run is read once."""
    found = load_recogniser(run)
    model = DeployModel(found.net, found.normaliser, found.class_names, found.joint_names, units)
    macs, rule = trace(found.net, model.example).macs, found.rejection
    if false_alarms is not None:
        rule = rejection_for(found, false_alarms)
    counted = replace(model, macs=macs, rejection=rule)
    return counted, _samples(found, data, most)


def rejection_for(found: Recogniser, false_alarms: str) -> Rejection:
    """The run's rule with the threshold for another rate of false alarms."""
    if found.rejection is None:
        raise ConfigError("this run has no threshold yet: choose one with `bandstop calibrate`")
    return found.rejection.for_alarms(false_alarms)


def _samples(found: Recogniser, data: str | None, most: int | None) -> Samples:
    """Test sequences of the run's own data (or of ``data``), split as in training."""
    source, dropped = recordings_for(found, data, say=tell_dropped)
    if unknown := sorted(set(source.class_names) - set(found.class_names)):
        raise ExportError(
            f"the data to check on has classes that the run does not know ({', '.join(unknown[:5])}): give "
            "the data of training"
        )
    with mentioning(dropped):
        source = source.subset(train_and_test(source)[1])
    number = np.array([found.class_names.index(name) for name in source.class_names], dtype=np.int64)
    count = len(source) if most is None else min(most, len(source))
    return Samples([np.asarray(source[i], np.float32) for i in range(count)], number[source.labels[:count]])
