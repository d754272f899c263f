"""Sequences that were read from files, put together into one set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["as_sequence", "assemble"]


def as_sequence(values: NDArray[Any], path: Path) -> NDArray[np.float32]:
    """``values`` [T, V, 3], or [T, V, 2] in the plane z = 0, as a float32 sequence.

    >>> as_sequence(np.ones((4, 21, 2)), Path("a.npy")).shape
    (4, 21, 3)
    """
    shape = values.shape
    if values.ndim != 3 or shape[2] not in (2, 3) or 0 in shape or values.dtype.kind not in "iuf":
        raise DataError(
            f"a sequence must be numbers [frames, joints, 3], found shape {shape} of {values.dtype}",
            path=path,
        )
    if shape[2] == 2:
        values = np.concatenate([values, np.zeros_like(values[:, :, :1])], axis=2)
    with np.errstate(over="ignore"):  # a value beyond float32 becomes inf, which describe reports
        return values.astype(np.float32)


def assemble(
    origin: Path, sequences: Sequence[NDArray[np.float32]], paths: Sequence[Path], **fields: Any
) -> SequenceSet:
    """One set of ``sequences`` (read from ``paths`` under ``origin``) with the other ``fields`` of a set."""
    nodes = sequences[0].shape[1]
    for sequence, path in zip(sequences, paths, strict=True):
        if sequence.shape[1] != nodes:
            found = f"{nodes} in {paths[0]}, {sequence.shape[1]} here"
            line = 1 if path.suffix.lower() == ".csv" else None  # all its lines have as many columns
            raise DataError(f"all sequences must have the same joints: {found}", path=path, line=line)
    try:
        return SequenceSet.from_sequences(sequences, **fields)
    except DataError as problem:
        raise DataError(str(problem), path=origin) from problem
    except MemoryError as problem:
        raise DataError("the sequences do not fit in memory", path=origin) from problem
