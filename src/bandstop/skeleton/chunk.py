"""Temporal chunking: a sequence of any length becomes M averages per joint coordinate, all sequences at once.

Frame ``t`` of a sequence holds during the time ``[t, t+1)``. A chunk ``[b_m, b_{m+1})`` of at least one
frame's duration is the exact time average ``(I(b_{m+1}) − I(b_m)) / (b_{m+1} − b_m)`` with ``I`` the running
integral of the trajectory; a shorter chunk (the sequence has fewer frames than chunks) is the linear
interpolation between the two nearest frames at the chunk's centre, so no chunk is ever empty. Because ``I``
is computed once, a crop or a warp of time costs only new boundaries ``b``.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from bandstop.skeleton.sequences import SequenceSet

__all__ = ["ChunkTable", "chunk_sequence", "uniform_boundaries"]


def uniform_boundaries(lengths: Tensor, chunks: int) -> Tensor:
    """Boundaries ``[N, M+1]`` that split each duration into M equal chunks.

    >>> uniform_boundaries(torch.tensor([4, 8]), 2).tolist()
    [[0.0, 2.0, 4.0], [0.0, 4.0, 8.0]]
    """
    return torch.linspace(0, 1, chunks + 1, dtype=torch.float64) * lengths.to(torch.float64)[:, None]


class ChunkTable:
    """Running integrals of every sequence of a set, from which chunk averages at any boundaries are read.

    >>> frames = np.arange(8, dtype=np.float32).reshape(8, 1, 1).repeat(3, axis=2)
    >>> table = ChunkTable([frames])
    >>> table.chunks(torch.tensor([0]), 4)[0, :, 0, 0].tolist()
    [0.5, 2.5, 4.5, 6.5]
    """

    def __init__(self, sequences: SequenceSet | list[np.ndarray], dtype: torch.dtype = torch.float64) -> None:
        parts = [np.asarray(sequences[i], dtype=np.float64) for i in range(len(sequences))]
        lengths = np.array([len(p) for p in parts])
        self.lengths = torch.from_numpy(lengths)
        self.starts = torch.from_numpy(np.concatenate([[0], np.cumsum(lengths)[:-1]]))
        frames = np.concatenate(parts)
        self.shape = frames.shape[1:]
        flat = frames.reshape(len(frames), -1)
        # integral[start + t] = sum of that sequence's first t frames; each by itself: none can blur another.
        sums = [
            np.cumsum(part.reshape(len(part), -1), axis=0) - part.reshape(len(part), -1) for part in parts
        ]
        integral = np.concatenate(sums)
        self.frames, self.integral = torch.from_numpy(flat).to(dtype), torch.from_numpy(integral).to(dtype)

    def __len__(self) -> int:
        return len(self.lengths)

    def chunks(self, index: Tensor, boundaries: int | Tensor) -> Tensor:
        """Chunk averages ``[B, M, V, 3]`` (float32) of the sequences ``index``.

        ``boundaries``: a number of equal chunks, or times ``[B, M+1]`` in frames, rising within ``[0, T]``.
        """
        lengths = self.lengths[index]
        times = uniform_boundaries(lengths, boundaries) if isinstance(boundaries, int) else boundaries
        times = times.to(self.frames.dtype)
        starts, last = self.starts[index][:, None], (lengths - 1)[:, None]
        whole = times.floor().long().clamp(max=last)
        at = starts + whole
        integral = self.integral[at] + (times - whole)[..., None] * self.frames[at]
        width = times.diff(dim=1)
        average = integral.diff(dim=1) / width.clamp(min=1e-12)[..., None]
        narrow = width < 1 - 1e-4
        if bool(narrow.any()):
            rows = narrow.any(dim=1)
            average[rows] = torch.where(
                narrow[rows][..., None],
                self._interpolated(times[rows], starts[rows], last[rows]),
                average[rows],
            )
        return average.to(torch.float32).reshape(*average.shape[:2], *self.shape)

    def _interpolated(self, times: Tensor, starts: Tensor, last: Tensor) -> Tensor:
        centres = ((times[:, 1:] + times[:, :-1]) / 2 - 0.5).clamp(min=0).minimum(last.to(times.dtype))
        before = centres.floor().long()
        after = (before + 1).minimum(last)
        share = (centres - before)[..., None]
        return self.frames[starts + before] * (1 - share) + self.frames[starts + after] * share


def chunk_sequence(frames: np.ndarray, chunks: int = 32) -> Tensor:
    """Chunk averages ``[M, V, 3]`` of one sequence ``[T, V, 3]``."""
    return ChunkTable([frames]).chunks(torch.tensor([0]), chunks)[0]
