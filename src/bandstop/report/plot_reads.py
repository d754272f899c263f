"""Which joints the first convolution reads, drawn on the skeleton: a disc for each, as large as its share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bandstop.report.canvas import INK, LINE, MUTED, PASS, figure
from bandstop.report.words import count

__all__ = ["draw_reads", "reads_panel"]

LARGEST = 330
"""Area of the disc of the joint that is read most, in square points."""


def reads_panel(
    part: str,
    counts: NDArray[np.int64],
    positions: NDArray[np.float64],
    edges: Sequence[tuple[int, int]],
    *,
    most: int,
) -> Figure:
    """One part of the signal as a small picture; ``most``: connections of the joint that is read most."""
    panel = figure(210, 225)
    axes = panel.add_subplot()
    draw_reads(axes, counts, positions, edges, most=most)
    axes.set_title(part, fontsize=11)
    axes.set_title(f"{count(int(counts.sum()))} kept", loc="right", color=MUTED, fontsize=10)
    return panel


def draw_reads(
    axes: Axes,
    counts: NDArray[np.int64],
    positions: NDArray[np.float64],
    edges: Sequence[tuple[int, int]],
    *,
    most: int,
    boldness: float = 1.0,
) -> None:
    """Bones, and on each joint a disc whose area is the number of connections that read it."""
    bones = [positions[list(bone)] for bone in edges]
    axes.add_collection(
        LineCollection(bones, colors=LINE, linewidths=3 * boldness, capstyle="round", zorder=1)
    )
    areas = LARGEST * boldness**2 * counts / max(most, 1)
    axes.scatter(
        positions[:, 0],
        positions[:, 1],
        s=areas,
        color=PASS,
        alpha=0.55,
        edgecolors=INK,
        linewidths=0.6,
        zorder=3,
    )
    axes.scatter(positions[:, 0], positions[:, 1], s=6 * boldness**2, color=MUTED, linewidths=0, zorder=4)
    axes.set_aspect("equal")
    axes.margins(0.16)
    axes.axis("off")
