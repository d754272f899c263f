"""Sequences that were read from files, put together into one set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.layout import Layout
from bandstop.skeleton.readers.clip import Clip
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["assemble", "assemble_clips"]

_LINED = (".csv", ".bvh", ".json", ".jsonl")


def assemble(
    origin: Path,
    sequences: Sequence[NDArray[np.float32]],
    paths: Sequence[Path],
    *,
    layout: Layout | None = None,
    **fields: Any,
) -> SequenceSet:
    """One set of ``sequences`` (read from ``paths`` under ``origin``) with the other ``fields`` of a set."""
    nodes = sequences[0].shape[1]
    for sequence, path in zip(sequences, paths, strict=True):
        if sequence.shape[1] != nodes:
            found = f"{nodes} in {paths[0]}, {sequence.shape[1]} here"
            line = 1 if path.suffix.lower() in _LINED else None  # all its lines have as many columns
            raise DataError(f"all sequences must have the same joints: {found}", path=path, line=line)
    try:
        return SequenceSet.from_sequences(sequences, **fields).with_layout(layout)
    except DataError as problem:
        raise DataError(str(problem), path=origin) from problem
    except MemoryError as problem:
        raise DataError("the sequences do not fit in memory", path=origin) from problem


def assemble_clips(origin: Path, clips: Sequence[Clip], paths: Sequence[Path], **fields: Any) -> SequenceSet:
    """One set of clips, all in the joint order that the first of them declares (or none of them)."""
    first = clips[0]
    frames = [_in_order(clip, path, first, paths[0]) for clip, path in zip(clips, paths, strict=True)]
    return assemble(origin, frames, paths, layout=first.layout, **fields)


def _in_order(clip: Clip, path: Path, first: Clip, first_path: Path) -> NDArray[np.float32]:
    names, wanted = clip.joint_names, first.joint_names
    if names == wanted or clip.frames.shape[1] != first.frames.shape[1]:
        return clip.frames
    if sorted(names) == sorted(wanted):
        return clip.frames[:, [names.index(name) for name in wanted]]
    found = (
        "other joint names than" if names and wanted else "joint names, unlike" if names else "none, unlike"
    )
    raise DataError(
        f"all files must name the same joints or none: this one has {found} {first_path}",
        path=path,
        line=1 if path.suffix.lower() in _LINED else None,
    )
