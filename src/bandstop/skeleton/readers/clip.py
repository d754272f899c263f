"""One sequence as it was read from a file, with what the file says of its joints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.in_space import in_space
from bandstop.skeleton.layout import Layout

__all__ = ["Clip", "as_sequence", "check_sequence"]


@dataclass(frozen=True, eq=False)
class Clip:
    """Frames [T, V, 3], and the layout that the file or its format declares; None: it says nothing."""

    frames: NDArray[np.float32]
    layout: Layout | None = None

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The declared names of the joints, or none."""
        return () if self.layout is None else self.layout.joint_names


def as_sequence(values: NDArray[Any], path: Path) -> NDArray[np.float32]:
    """``values`` [T, V, 3], or [T, V, 2] in the plane z = 0, as a float32 sequence.

    >>> as_sequence(np.ones((4, 21, 2)), Path("a.npy")).shape
    (4, 21, 3)
    """
    check_sequence(values.shape, values.dtype, path)
    with np.errstate(over="ignore"):  # a value beyond float32 becomes inf, which describe reports
        return in_space(values).astype(np.float32)


def check_sequence(shape: tuple[int, ...], dtype: np.dtype[Any], path: Path) -> None:
    """Refuse what is no sequence [T, V, 2 or 3] of numbers."""
    if len(shape) != 3 or shape[2] not in (2, 3) or 0 in shape or dtype.kind not in "iuf":
        raise DataError(
            f"a sequence must be numbers [frames, joints, 3] or [frames, joints, 2], found shape {shape} of"
            f" {dtype}",
            path=path,
        )
