"""A finished recogniser learns to say "none of these", on recordings that it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from bandstop.errors import ConfigError, DataError
from bandstop.record.rejection import NONE, Rejection
from bandstop.skeleton import SequenceSet
from bandstop.skeleton.split import train_and_test
from bandstop.skeleton.unusable import LeftOut, mentioning, say_nothing
from bandstop.training.model_file import Recogniser
from bandstop.training.recordings import recordings_for

__all__ = ["best_temperature", "choose_rejection", "recordings_to_calibrate", "true_labels"]

_NEAR_ONE = (0.998, 0.999, 0.9995, 0.9999)
THRESHOLDS = (
    *(round(float(t), 3) for t in (*np.arange(0.05, 0.9, 0.025), *np.arange(0.9, 0.996, 0.005))),
    *_NEAR_ONE,
)
_FEWEST = 20
"""With fewer recordings no rate of false alarms can be told."""


def best_temperature(scores: Tensor, labels: Tensor) -> float:
    """The temperature of the least cross-entropy on held-out data (Guo et al., 2017).

    Targets are smoothed as if one recording in ``n + 2`` were wrong (Platt, 1999): where all are right, plain
    cross-entropy would have no minimum.

    >>> sure = torch.tensor([[3.0, 0.0]])
    >>> best_temperature(sure.repeat(98, 1), torch.zeros(98, dtype=torch.long))  # near 3 / log 99
    0.6637
    """
    count, classes = len(scores), scores.shape[1]
    smoothing = classes / ((classes - 1) * (count + 2)) if classes > 1 else 0.0
    grid = [float(f"{0.05 * 1.05**k:.4g}") for k in range(120)]
    losses = [float(F.cross_entropy(scores.double() / t, labels, label_smoothing=smoothing)) for t in grid]
    return grid[int(np.argmin(losses))]


def recordings_to_calibrate(
    recogniser: Recogniser, data: str | None, say: LeftOut = say_nothing
) -> SequenceSet:
    """``data``, or the part that the run held out with ``--validation``; in the joint order of training.

    ``say`` is told what was left out as unusable, if the run leaves any out.
    """
    config = recogniser.config
    if data is None and not config.validation:
        raise ConfigError(
            "a threshold is chosen on recordings that were neither trained nor judged on: name some, or "
            "train with --validation 0.2"
        )
    if data == config.data:
        raise ConfigError(f"{data} is what the run was trained on: name recordings that it has not seen")
    source, dropped = recordings_for(recogniser, data, say=say)
    if data is not None:
        return source
    with mentioning(dropped):
        held = train_and_test(source, validation=config.validation, seed=config.seed)[1]
    return source.subset(held)


def true_labels(source: SequenceSet, class_names: Sequence[str]) -> NDArray[np.int64]:
    """Labels in the run's numbering; −1 for a class that the run does not know, or `none`.

    >>> still = np.zeros((2, 1, 3), np.float32)
    >>> s = SequenceSet.from_sequences([still] * 3, labels=[0, 1, 2], class_names=["nod", "wave", "none"])
    >>> true_labels(s, ["wave", "none"])
    array([-1,  0, -1])
    """
    known = {name: number for number, name in enumerate(class_names) if name != NONE}
    number = np.array([known.get(name, -1) for name in source.class_names], dtype=np.int64)
    labels: NDArray[np.int64] = number[source.labels]
    return labels


def choose_rejection(
    recogniser: Recogniser, source: SequenceSet, false_alarms: str, *, frames_per_second: float = 30.0
) -> Rejection:
    """Temperature, threshold and its curve on ``source``.

    A false alarm is a recording with a wrong name, also one of a class that the run does not know. The
    threshold is the lowest with no more of them than asked for.
    """
    labels = true_labels(source, recogniser.class_names)
    if len(source) < _FEWEST or not (labels >= 0).any():
        raise DataError(
            f"a threshold needs at least {_FEWEST} recordings, some of them of the run's classes; found "
            f"{len(source)} and {int((labels >= 0).sum())}"
        )
    scores = recogniser.scores([source[i] for i in range(len(source))])
    known = labels >= 0
    temperature = best_temperature(scores[known], torch.from_numpy(labels[known]))
    likely = torch.softmax(scores.double() / temperature, dim=1).numpy()
    likely = np.where(np.array(recogniser.class_names) == NONE, 0.0, likely)
    best, named = likely.max(axis=1), likely.argmax(axis=1)
    curve = tuple(
        (t, int(((best >= t) & (named != labels)).sum()), int(((best >= t) & (named == labels)).sum()))
        for t in THRESHOLDS
    )
    minutes = float(source.lengths.sum()) / frames_per_second / 60
    rule = Rejection(temperature, 1.0, false_alarms, len(source), round(minutes, 4), curve)
    return rule.for_alarms(false_alarms)
