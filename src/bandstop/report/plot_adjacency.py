"""The surviving adjacency drawn on the skeleton: which joint listens to which, how strongly, which sign."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.path import Path as Curve
from numpy.typing import NDArray

from bandstop.report.canvas import LINE, MUTED, PASS, STOP, figure
from bandstop.report.words import count

__all__ = ["MOST", "draw_adjacency", "head_panel"]

MOST = 40
"""Connections drawn a head at most: a dense head is a ball of wool."""


def head_panel(
    head: NDArray[np.float64],
    positions: NDArray[np.float64],
    edges: Sequence[tuple[int, int]],
    *,
    number: int,
    largest: float,
) -> Figure:
    """One head as a small picture; ``largest`` is the magnitude of the widest line over all heads."""
    panel = figure(200, 215)
    axes = panel.add_subplot()
    draw_adjacency(axes, head, positions, edges, largest=largest)
    kept = int(np.count_nonzero(head))
    axes.set_title(f"head {number}", fontsize=11)
    text = f"{count(kept)} kept" if kept <= MOST else f"{MOST} of {count(kept)}"
    axes.set_title(text, loc="right", color=MUTED, fontsize=10)
    return panel


def draw_adjacency(
    axes: Axes,
    head: NDArray[np.float64],
    positions: NDArray[np.float64],
    edges: Sequence[tuple[int, int]],
    *,
    largest: float,
    most: int = MOST,
    boldness: float = 1.0,
) -> None:
    """Curves from the sending joint (column) to the receiving one (row), rings for a joint's own signal."""
    bones = [positions[list(bone)] for bone in edges]
    axes.add_collection(
        LineCollection(bones, colors=LINE, linewidths=3 * boldness, capstyle="round", zorder=1)
    )
    axes.scatter(positions[:, 0], positions[:, 1], s=9 * boldness**2, color=MUTED, linewidths=0, zorder=4)
    links = np.argwhere(head != 0).tolist()
    links.sort(key=lambda link: -abs(head[link[0], link[1]]))
    curves, tips, widths, colours = [], [], [], []
    for receiver, sender in links[:most]:
        value = float(head[receiver, sender])
        colour, width = (PASS if value > 0 else STOP), boldness * (0.5 + 2.6 * abs(value) / largest)
        if receiver == sender:
            ring = Circle(
                tuple(positions[receiver]), 0.042, fill=False, edgecolor=colour, linewidth=width, zorder=3
            )
            axes.add_patch(ring)
            continue
        curve, tip = _bow(
            positions[sender], positions[receiver], size=(0.017 + 0.006 * width / boldness) / boldness**0.6
        )
        curves.append(curve)
        tips.append(tip)
        widths.append(width)
        colours.append(colour)
    lines = PathCollection(
        curves, facecolors="none", edgecolors=colours, linewidths=widths, alpha=0.85, zorder=2
    )
    # The joints set the frame: a curve's control points reach far beyond what is drawn of it.
    axes.add_collection(lines, autolim=False)
    axes.add_collection(PolyCollection(tips, facecolors=colours, linewidths=0, zorder=3), autolim=False)
    axes.update_datalim([(-0.55, -0.55), (0.55, 0.55)])
    axes.margins(0)
    axes.set_aspect("equal", adjustable="datalim")
    axes.axis("off")


def _bow(
    sender: NDArray[np.float64], receiver: NDArray[np.float64], *, size: float
) -> tuple[Curve, NDArray[np.float64]]:
    """A curve bent to its left, so that joints that hear each other show two curves, and its arrow tip."""
    along = receiver - sender
    length = float(np.hypot(*along)) or 1e-9
    bend = sender + along / 2 + 0.16 * np.array([-along[1], along[0]])
    heading = receiver - bend
    heading = heading / (float(np.hypot(*heading)) or 1e-9)
    end = receiver - heading * min(0.02, length / 4)
    back = end - heading * min(2 * size, length / 2)
    across = np.array([-heading[1], heading[0]]) * min(size, length / 4)
    curve = Curve([sender, bend, back], [Curve.MOVETO, Curve.CURVE3, Curve.CURVE3])
    return curve, np.array([end, back + across, back - across])
