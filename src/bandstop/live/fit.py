"""Training a stream recogniser: windows of streams, one ordinary run, a rule chosen on validation streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bandstop.live.calibrate import Calibrated, calibrate, usual_durations
from bandstop.live.decision import DecisionRule
from bandstop.live.looks import events_of, look_at
from bandstop.live.measures import StreamMeasures, measure_streams
from bandstop.live.recogniser import LiveSettings, read_live_settings, save_live
from bandstop.live.stream import LiveData
from bandstop.live.windows import WindowPlan, training_windows
from bandstop.record.folder import LIVE, MODEL
from bandstop.record.metrics import Metrics
from bandstop.skeleton import SequenceSet
from bandstop.training.config import RunConfig
from bandstop.training.model_file import Recogniser, load_recogniser, save_recogniser
from bandstop.training.presets import live_config
from bandstop.training.run import train_run

__all__ = ["LiveResult", "fit_live", "live_config", "window_set"]


_ENOUGH_WINDOWS = 6000
"""About as many windows of gestures are trained on, one to five of each gesture."""


@dataclass(frozen=True)
class LiveResult:
    """What came of a training: the chosen rule with its measures, and those of the test streams."""

    calibrated: Calibrated
    test: StreamMeasures | None
    metrics: Metrics


def window_set(data: LiveData, plan: WindowPlan, *, seed: int = 0) -> SequenceSet:
    """Windows of the training streams to train on, and of the validation streams to judge on."""
    gestures = sum(len(stream.gestures) for stream in data.train)
    per_gesture = max(1, min(5, round(_ENOUGH_WINDOWS / max(1, gestures))))
    train = training_windows(data.train, data.class_names, plan, per_gesture=per_gesture, seed=seed)
    judge = training_windows(data.validation, data.class_names, plan, per_gesture=1, seed=seed + 1)
    return SequenceSet.from_sequences(
        [*train, *judge],
        labels=np.concatenate([train.labels, judge.labels]),
        class_names=train.class_names,
        subjects=np.concatenate([train.subjects, judge.subjects]),
        split=np.repeat(["train", "test"], [len(train), len(judge)]),
        edges=data.edges,
        root=data.root,
        joint_names=data.joint_names,
        name="windows",
    )


def _judge(recogniser: Recogniser, data: LiveData, settings: LiveSettings) -> StreamMeasures | None:
    if not data.test:
        return None
    looks = [look_at(recogniser, stream, settings.plan) for stream in data.test]
    return measure_streams(data.test, [events_of(found, settings.rule) for found in looks])


def fit_live(
    config: RunConfig,
    data: LiveData,
    out: Path,
    *,
    false_alarms: float = 1.0,
    plan: WindowPlan | None = None,
    rule: DecisionRule | None = None,
    resume: bool = False,
    show: Callable[[dict[str, Any]], None] = lambda row: None,
) -> LiveResult:
    """Train into the folder ``out`` and write `live.json` there.

    ``false_alarms``: how many a minute the user accepts; the threshold is chosen for it on the validation
    streams.
    """
    if plan is None and resume and (out / LIVE).is_file():
        plan = read_live_settings(out).plan
    plan = plan or WindowPlan.for_streams(data.train, chunks=config.chunks)
    rate = data.train[0].frames_per_second
    windows = window_set(data, plan, seed=config.seed)
    metrics = train_run(config, out, sequences=windows, dropped=data.dropped, resume=resume, show=show)
    recogniser = load_recogniser(out)
    looks = [look_at(recogniser, stream, plan) for stream in data.validation]
    refractory = min(plan.length, round(0.6 * rate))
    rule = rule or DecisionRule(refractory=refractory)
    rule = replace(rule, durations=usual_durations(data.train, len(data.class_names)))
    found = calibrate(looks, data.validation, plan, rule, false_alarms=false_alarms)
    settings = LiveSettings(plan, found.rule, rate, false_alarms, found.met, found.measures.as_dict())
    save_live(settings, out)
    save_recogniser(replace(recogniser, rejection=found.rejection), out / MODEL)
    return LiveResult(found, _judge(recogniser, data, settings), metrics)
