"""Which known layout a sequence has, where it does not say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.layout import Layout
from bandstop.skeleton.layouts import LAYOUTS

__all__ = ["bone_length", "guess_layout", "layout_called", "layout_of_names"]


def guess_layout(joints: NDArray[np.float32], layouts: Sequence[Layout] = LAYOUTS) -> Layout | None:
    """The known layout with as many joints as ``joints`` [frames, V, 3], or None.

    Where several have that number (two orders of a hand's 21 joints), the one with the shortest bones:
    the right order joins neighbours, a wrong one jumps across the hand. Flat joints (z = 0) are those of a
    layout that images have, if there is one.

    >>> guess_layout(np.zeros((1, 17, 3), np.float32)).name
    'coco'
    >>> guess_layout(np.zeros((1, 16, 3), np.float32)) is None
    True
    """
    axes = 3 if joints[:, :, 2].any() else 2
    fitting = [layout for layout in layouts if layout.nodes == joints.shape[1]]
    fitting = [layout for layout in fitting if axes in layout.axes] or fitting
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    return min(fitting, key=lambda layout: bone_length(joints, layout))


def bone_length(joints: NDArray[np.float32], layout: Layout) -> float:
    """The mean length of all bones together, over a sample of the frames without gaps.

    >>> bone_length(np.array([[[0, 0, 0], [3, 4, 0]]], np.float32), Layout("stick", ("a", "b"), ((0, 1),)))
    5.0
    """
    sample = joints[:: max(1, len(joints) // 1000)].astype(np.float64)
    sample = sample[np.isfinite(sample).all(axis=(1, 2))]
    if not len(sample):
        return 0.0
    start, stop = np.array(layout.edges).T
    return float(np.linalg.norm(sample[:, start] - sample[:, stop], axis=2).sum(axis=1).mean())


def layout_called(text: str) -> Layout:
    """The known layout of that name; :class:`DataError` lists them.

    >>> layout_called("mediapipe-hand").nodes
    21
    """
    for layout in LAYOUTS:
        if text.lower() in (layout.name, layout.key):
            return layout
    known = ", ".join(layout.key for layout in LAYOUTS)
    raise DataError(f"a layout must be one of {known}; found {text!a:.40}")


def layout_of_names(names: Sequence[str]) -> Layout:
    """A layout of joints so called, in their order; with the bones of a known one that has them all.

    >>> layout_of_names(["WRIST", "THUMB_CMC", "THUMB_MCP"]).joint_names
    ('wrist', 'thumb mcp', 'thumb pip')
    >>> layout_of_names(["hub", "rim"]).edges
    ()
    """
    fitting = [(layout, layout.known_as(names)) for layout in LAYOUTS if layout.nodes >= len(names)]
    known = [(layout, found) for layout, found in fitting if found and len(set(found)) == len(names)]
    if not known:
        return Layout("", tuple(names))
    layout, found = min(known, key=lambda pair: (pair[0].nodes, pair[1] != pair[0].joint_names))
    return layout.of(found)
