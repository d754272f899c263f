"""Streams to learn from, to choose the threshold on, and to judge on, from any data that training takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.live.hand_streams import make_hand_streams
from bandstop.live.joined import gestures_and_idle, join_sequences
from bandstop.live.sessions import sessions_live
from bandstop.live.stream import LiveData, Stream
from bandstop.record.reading import AS_IT_SAYS, Reading
from bandstop.skeleton import SequenceSet, load
from bandstop.skeleton.layouts import HAND
from bandstop.skeleton.split import train_and_test
from bandstop.skeleton.unusable import LeftOut, mentioning, say_nothing, usable

__all__ = ["LiveData", "hands_live", "joined_live", "load_live_data"]

_ENOUGH_GESTURES = 3000
"""Training sequences are joined up to three times, between other neighbours, until there are as many."""


def hands_live(seed: int = 0) -> LiveData:
    """Streams of the embedded hands: of many people to learn from, of enough to choose a threshold on."""
    made = make_hand_streams(seed, people=(32, 8, 8), repetitions=(3, 4, 4))
    edges = np.array(HAND.edges, dtype=np.int64)
    groups = made.train, made.validation, made.test
    return LiveData(*groups, made.class_names, edges, HAND.root, HAND.joint_names)


def _split_idle(idle: Sequence[NDArray[np.float32]], parts: int) -> list[list[NDArray[np.float32]]]:
    """Idle recordings cut so that each part has its own time: long recordings in pieces, in turn."""
    pieces = [[np.asarray(p) for p in np.array_split(one, parts) if len(p) >= 2] for one in idle]
    return [[piece[k] for piece in pieces if k < len(piece)] for k in range(parts)]


def joined_live(sequences: SequenceSet, *, seed: int = 0, frames_per_second: float = 30.0) -> LiveData:
    """Streams joined from cut-outs; the data's own test part is left for judging, if there is one."""
    gestures, idle = gestures_and_idle(sequences.repaired())
    own_test = bool((gestures.split == "test").any() and (gestures.split == "train").any())
    train, held, _ = train_and_test(gestures, validation=0.25 if own_test else 0.0, seed=seed)
    groups = [gestures.subset(train), gestures.subset(held)]
    groups += [gestures.subset(gestures.split == "test")] if own_test else []
    calm = _split_idle(idle, len(groups)) if idle else [[] for _ in groups]
    made: list[tuple[Stream, ...]] = []
    for place, (part, still) in enumerate(zip(groups, calm, strict=True)):
        times = max(1, min(3, round(_ENOUGH_GESTURES / len(part)))) if place == 0 else 1
        made.append(
            tuple(
                stream
                for time in range(times)
                for stream in join_sequences(
                    part, still, seed=seed * 100 + 10 * place + time, frames_per_second=frames_per_second
                )
            )
        )
    test = made[2] if own_test else ()
    return LiveData(
        made[0], made[1], test, gestures.class_names, gestures.edges, gestures.root, gestures.joint_names
    )


def load_live_data(
    data: str,
    *,
    seed: int = 0,
    frames_per_second: float = 30.0,
    reading: Reading = AS_IT_SAYS,
    drop: str | None = None,
    say: LeftOut = say_nothing,
) -> LiveData:
    """Streams of ``data``, named as for `bandstop train`; sequences of a class `none` are idle recordings.

    ``reading`` and ``drop`` as a run's config has them; ``say`` is told at once what is left out.
    """
    if data == "hands":
        _refuse(reading, data)
        return hands_live(seed)
    kind, _, rest = data.partition(":")
    if kind == "jackknife" and (sessions := Path(rest).expanduser()).joinpath("sessions").is_dir():
        _refuse(reading, data, drop)
        return sessions_live(sessions)
    sequences, dropped = usable(load(data, reading), drop, say=say)
    if sequences.lengths.max() < 2:
        raise DataError("streams are made of moving gestures; every sequence here has one frame only")
    with mentioning(dropped):
        made = joined_live(sequences, seed=seed, frames_per_second=frames_per_second)
    return replace(made, dropped=dropped)


def _refuse(reading: Reading, data: str, drop: str | None = None) -> None:
    """Streams that are made or recorded as such say themselves what they are."""
    given = {"columns": reading.columns, "edges": reading.edges, "layout": reading.layout, "drop": drop or ""}
    for name, value in given.items():
        if value:
            raise DataError(
                f"--{name} is for data of cut-out recordings, these are streams",
                path=data,
                hint="leave it out",
            )
