"""Skeleton layouts: what each joint is called, which joints are joined by a bone, which one is the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COCO_17",
    "HAND",
    "KINECT_20",
    "LAYOUTS",
    "MEDIAPIPE_HAND",
    "MEDIAPIPE_TO_HAND",
    "NTU_25",
    "SBU_15",
    "SBU_PAIR",
    "Layout",
    "guess_layout",
]


@dataclass(frozen=True)
class Layout:
    """A tree of named joints.

    >>> HAND.nodes, HAND.joint_names[HAND.root], len(HAND.edges)
    (21, 'wrist', 20)
    >>> SBU_PAIR.nodes, len(SBU_PAIR.edges), SBU_PAIR.joint_names[15]
    (30, 28, 'second head')
    """

    name: str
    joint_names: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    root: int

    @property
    def nodes(self) -> int:
        """How many joints."""
        return len(self.joint_names)

    def twice(self, name: str) -> Layout:
        """Two such skeletons side by side, without a bone between them; the root is the first one's."""
        both = tuple(f"{who} {joint}" for who in ("first", "second") for joint in self.joint_names)
        edges = tuple((a + shift, b + shift) for shift in (0, self.nodes) for a, b in self.edges)
        return Layout(name, both, edges, self.root)


def _sided(*parts: str) -> tuple[str, ...]:
    return tuple(f"{side} {part}" for side in ("left", "right") for part in parts)


_FINGERS = ("thumb", "index", "middle", "ring", "little")

HAND = Layout(
    "hand",
    (
        "wrist",
        *(f"{finger} mcp" for finger in _FINGERS),
        *(f"{finger} {joint}" for finger in _FINGERS for joint in ("pip", "dip", "tip")),
    ),
    (
        *((0, 1 + finger) for finger in range(5)),
        *((1 + finger, 6 + 3 * finger) for finger in range(5)),
        *((6 + 3 * finger + step, 7 + 3 * finger + step) for finger in range(5) for step in range(2)),
    ),
    root=0,
)
"""FPHA's order, which is ours: wrist, five knuckles from the thumb, then three joints a finger outward."""

MEDIAPIPE_TO_HAND = (0, 1, 5, 9, 13, 17, 2, 3, 4, 6, 7, 8, 10, 11, 12, 14, 15, 16, 18, 19, 20)
"""Joint i of our hand is MediaPipe's landmark i of this list: ``ours = theirs[:, MEDIAPIPE_TO_HAND]``."""

MEDIAPIPE_HAND = Layout(
    "mediapipe hand",
    tuple(HAND.joint_names[MEDIAPIPE_TO_HAND.index(i)] for i in range(21)),
    tuple((MEDIAPIPE_TO_HAND[a], MEDIAPIPE_TO_HAND[b]) for a, b in HAND.edges),
    root=0,
)

SBU_15 = Layout(
    "sbu person",
    (
        "head",
        "neck",
        "torso",
        *_sided("shoulder", "elbow", "hand"),
        *_sided("hip", "knee", "foot"),
    ),
    (
        *((0, 1), (1, 2)),
        *((1, 3), (3, 4), (4, 5), (1, 6), (6, 7), (7, 8)),
        *((2, 9), (9, 10), (10, 11), (2, 12), (12, 13), (13, 14)),
    ),
    root=2,
)

SBU_PAIR = SBU_15.twice("sbu pair")

KINECT_20 = Layout(
    "kinect v1",
    (
        "head",
        "shoulder centre",
        "spine",
        "hip centre",
        *_sided("shoulder", "elbow", "wrist", "hand"),
        *_sided("hip", "knee", "ankle", "foot"),
    ),
    (
        *((0, 1), (1, 2), (2, 3)),
        *((1, 4), (4, 5), (5, 6), (6, 7), (1, 8), (8, 9), (9, 10), (10, 11)),
        *((3, 12), (12, 13), (13, 14), (14, 15), (3, 16), (16, 17), (17, 18), (18, 19)),
    ),
    root=2,
)

COCO_17 = Layout(
    "coco",
    (
        "nose",
        *("left eye", "right eye", "left ear", "right ear", "left shoulder", "right shoulder"),
        *("left elbow", "right elbow", "left wrist", "right wrist", "left hip", "right hip"),
        *("left knee", "right knee", "left ankle", "right ankle"),
    ),
    (
        *((0, 1), (0, 2), (1, 3), (2, 4), (0, 5), (0, 6)),
        *((5, 7), (7, 9), (6, 8), (8, 10)),
        *((5, 11), (11, 13), (13, 15), (6, 12), (12, 14), (14, 16)),
    ),
    root=0,
)

NTU_25 = Layout(
    "kinect v2",
    (
        *("spine base", "spine", "neck", "head"),
        *_sided("shoulder", "elbow", "wrist", "hand"),
        *_sided("hip", "knee", "ankle", "foot"),
        "shoulder centre",
        *_sided("hand tip", "thumb"),
    ),
    (
        *((0, 1), (1, 20), (20, 2), (2, 3)),
        *((20, 4), (4, 5), (5, 6), (6, 7), (7, 22), (22, 21)),
        *((20, 8), (8, 9), (9, 10), (10, 11), (11, 24), (24, 23)),
        *((0, 12), (12, 13), (13, 14), (14, 15), (0, 16), (16, 17), (17, 18), (18, 19)),
    ),
    root=1,
)

LAYOUTS = (HAND, MEDIAPIPE_HAND, SBU_15, SBU_PAIR, KINECT_20, COCO_17, NTU_25)
"""Every layout that is known by name."""

_GUESSABLE = (
    *LAYOUTS,
    COCO_17.twice("coco pair"),
    NTU_25.twice("kinect v2 pair"),
    KINECT_20.twice("kinect v1 pair"),
)


def guess_layout(joints: NDArray[np.float32], layouts: Sequence[Layout] = _GUESSABLE) -> Layout | None:
    """The known layout with as many joints as ``joints`` [frames, V, 3], or None.

    Where several have that number (two orders of a hand's 21 joints), the one with the shortest bones:
    the right order joins neighbours, a wrong one jumps across the hand.

    >>> guess_layout(np.zeros((1, 17, 3), np.float32)).name
    'coco'
    >>> guess_layout(np.zeros((1, 18, 3), np.float32)) is None
    True
    """
    fitting = [layout for layout in layouts if layout.nodes == joints.shape[1]]
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    sample = joints[:: max(1, len(joints) // 1000)].astype(np.float64)
    sample = sample[np.isfinite(sample).all(axis=(1, 2))]
    return min(fitting, key=lambda layout: _bone_length(sample, layout))


def _bone_length(frames: NDArray[np.float64], layout: Layout) -> float:
    start, stop = np.array(layout.edges).T
    return float(np.linalg.norm(frames[:, start] - frames[:, stop], axis=2).sum())
