"""Every look at a stream at once: the scores that a live recogniser would find frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bandstop.live.decision import Decider, DecisionRule
from bandstop.live.event import Event
from bandstop.live.stream import Stream
from bandstop.live.windows import WindowPlan
from bandstop.skeleton.chunk import ChunkTable
from bandstop.training.model_file import Recogniser

__all__ = ["Looks", "Scorer", "events_of", "look_at", "window_signals"]

Scorer = Callable[[NDArray[np.float32]], NDArray[np.float32]]

_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Looks:
    """Class scores ``[N, classes]`` of the windows that end at the frame counts ``at`` ``[N]``."""

    at: NDArray[np.int64]
    scores: NDArray[np.float32]


def look_at(
    recogniser: Recogniser, stream: Stream, plan: WindowPlan, *, scorer: Scorer | None = None
) -> Looks:
    """The scores of all looks at ``stream``: every hop frames, once a window is full.

    ``scorer``: what makes scores of signals instead of the network, such as its form in fixed point.
    """
    at, signals = window_signals(recogniser, stream, plan)
    if not len(at):
        return Looks(at, np.zeros((0, len(recogniser.class_names)), np.float32))
    if scorer is not None:
        return Looks(at, np.asarray(scorer(signals.numpy()), np.float32))
    with torch.no_grad():
        found = [recogniser.net(part).numpy() for part in torch.split(signals, _AT_ONCE)]
    return Looks(at, np.concatenate(found))


def window_signals(
    recogniser: Recogniser, stream: Stream, plan: WindowPlan
) -> tuple[NDArray[np.int64], torch.Tensor]:
    """Frame counts ``[N]`` at which windows end, and what the network sees of each ``[N, V, S]``."""
    first = -(-plan.length // plan.hop) * plan.hop
    at = np.arange(first, len(stream) + 1, plan.hop)
    table, chunks = ChunkTable([stream.joints]), recogniser.normaliser.chunks
    inside = torch.linspace(0, 1, chunks + 1, dtype=torch.float64) * plan.length
    found = [torch.zeros(0, recogniser.joints, recogniser.normaliser.values)]
    for ends in torch.split(torch.from_numpy(at).double(), _AT_ONCE) if len(at) else ():
        boundaries = (ends - plan.length)[:, None] + inside
        windows = table.chunks(torch.zeros(len(ends), dtype=torch.long), boundaries)
        frames = torch.full((len(ends),), plan.length)
        found.append(recogniser.normaliser(windows, frames))
    return at, torch.cat(found)


def events_of(looks: Looks, rule: DecisionRule) -> list[Event]:
    """The events that ``rule`` makes of the looks at a stream."""
    decider = Decider(rule)
    found = (decider.look(row, int(at)) for row, at in zip(looks.scores, looks.at, strict=True))
    return [event for event in found if event is not None]
