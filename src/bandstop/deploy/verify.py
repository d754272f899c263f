"""Every export against the PyTorch network, on real inputs, before it is called done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from bandstop.deploy.ir.program import Floats
from bandstop.deploy.model import DeployModel
from bandstop.deploy.run.native import Native
from bandstop.errors import ExportError
from bandstop.record.rejection import Answer
from bandstop.skeleton.chunk import chunk_sequence
from bandstop.skeleton.in_space import raw_frames

__all__ = [
    "EXACT",
    "Agreement",
    "Limits",
    "agreement",
    "check",
    "check_answers",
    "reference_scores",
    "signals_of",
    "stream_scores",
]


@dataclass(frozen=True)
class Agreement:
    """How closely scores follow the reference over a number of inputs."""

    inputs: int
    largest_difference: float
    largest_score: float
    same_class: float

    def as_dict(self) -> dict[str, float]:
        """The fields, for a report."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.inputs} inputs: largest difference {self.largest_difference:.2g} (scores up to "
            f"{self.largest_score:.3g}), same class {100 * self.same_class:.2f} %"
        )


@dataclass(frozen=True)
class Limits:
    """How far an export may be from the network.

    ``tolerance``: largest difference of scores, as a share of the largest score; ``classes``: least share
    of inputs with the same class.
    """

    tolerance: float = 1e-4
    classes: float = 1.0


EXACT = Limits()
_EDGE = 1e-5
"""Rounding of a probability in single precision."""


def signals_of(model: DeployModel, sequences: Sequence[Floats]) -> Floats:
    """Network inputs ``[N, …]`` of raw sequences, by the code that training uses.

    A sequence is ``[T, V, 3]``, or ``[T, V, 2]`` in the plane z = 0.
    """
    if model.normaliser is None:
        raise ExportError("a network without a normaliser takes no raw sequences; give its inputs")
    joints = len(model.normaliser.node_scale)
    raw = [raw_frames(frames, joints, f"sequence {i}") for i, frames in enumerate(sequences)]
    chunks = torch.stack([chunk_sequence(frames, model.normaliser.chunks) for frames in raw])
    return model.normaliser(chunks, torch.tensor([len(frames) for frames in raw])).numpy()


def reference_scores(model: DeployModel, inputs: Floats) -> Floats:
    """The PyTorch network's scores, in evaluation mode."""
    with torch.no_grad():
        scores: Floats = model.net.eval()(torch.from_numpy(np.asarray(inputs, np.float32))).numpy()
    return scores.reshape(len(inputs), -1)


def stream_scores(native: Native, sequences: Sequence[Floats], *, open_ended: bool = False) -> Floats:
    """Scores of the compiled front end for raw sequences; ``open_ended``: it is not told their lengths.

    A class other than that of the best score is refused: then the front end does not answer as it should.
    """
    answers = [native.stream(s, length=0 if open_ended else None) for s in sequences]
    wrong = [answer for answer, scores, _ in answers if answer != int(scores.argmax())]
    if wrong:
        raise ExportError(f"the C front end answered {wrong[0]} to a sequence that it should classify")
    return np.stack([scores for _, scores, _ in answers])


def agreement(found: Floats, wanted: Floats) -> Agreement:
    """Compare scores; a class is the same if the reference tells it from its own best by rounding only.

    >>> str(agreement(np.array([[0.0, 1.0]]), np.array([[0.0, 1.5]])))
    '1 inputs: largest difference 0.5 (scores up to 1.5), same class 100.00 %'
    """
    if found.shape != wanted.shape or not len(found):
        raise ExportError(f"scores of shape {list(wanted.shape)} were expected, found {list(found.shape)}")
    chosen = wanted[np.arange(len(wanted)), found.argmax(1)]
    tie = 1e-6 * np.abs(wanted).max()
    same = chosen >= wanted.max(1) - tie
    difference = np.abs(found - wanted).max() if np.isfinite(found).all() else float("inf")
    return Agreement(len(found), float(difference), float(np.abs(wanted).max()), float(same.mean()))


def check_answers(what: str, found: Sequence[Answer], scores: Floats, model: DeployModel) -> float:
    """Refuse an export that answers otherwise than Python to the same scores; the share of none."""
    rule = model.rejection
    assert rule is not None
    wanted = [rule.answer(row, model.class_names) for row in scores.tolist()]
    for one, other in zip(found, wanted, strict=True):
        likely = other.confidence if other.label >= 0 else 1 - other.confidence
        on_the_edge = abs(likely - rule.threshold) < _EDGE
        if not on_the_edge and (one.label != other.label or abs(one.confidence - other.confidence) > _EDGE):
            raise ExportError(f"{what} answers {one} where Python answers {other}, and was not written")
    return float(np.mean([answer.label < 0 for answer in wanted]))


def check(what: str, found: Floats, wanted: Floats, limits: Limits = EXACT) -> Agreement:
    """Refuse an export whose scores, or too many of whose classes, are not those of the network."""
    result = agreement(found, wanted)
    allowed = limits.tolerance * max(1.0, result.largest_score)
    if not result.largest_difference <= allowed or result.same_class < limits.classes:
        raise ExportError(
            f"{what} does not agree with the network and was not written: {result} (allowed {allowed:.2g})"
        )
    return result
