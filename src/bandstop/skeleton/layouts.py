"""The skeleton layouts that are known: those of data sets, of sensors and of pose estimators."""

from __future__ import annotations

from bandstop.skeleton.layout import Layout

__all__ = [
    "COCO_17",
    "HAND",
    "KINECT_20",
    "LAYOUTS",
    "MEDIAPIPE_HAND",
    "MEDIAPIPE_POSE",
    "MEDIAPIPE_TO_HAND",
    "NTU_25",
    "OPENPOSE_18",
    "OPENPOSE_25",
    "SBU_15",
    "SBU_PAIR",
    "SHREC_22",
]


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
    axes=(3, 2),
)
"""FPHA's order, which is ours: wrist, five knuckles from the thumb, then three joints a finger outward."""

MEDIAPIPE_TO_HAND = (0, 1, 5, 9, 13, 17, 2, 3, 4, 6, 7, 8, 10, 11, 12, 14, 15, 16, 18, 19, 20)
"""Joint i of our hand is MediaPipe's landmark i of this list: ``ours = theirs[:, MEDIAPIPE_TO_HAND]``."""

MEDIAPIPE_HAND = Layout(
    "mediapipe hand",
    tuple(HAND.joint_names[MEDIAPIPE_TO_HAND.index(i)] for i in range(21)),
    tuple((MEDIAPIPE_TO_HAND[a], MEDIAPIPE_TO_HAND[b]) for a, b in HAND.edges),
    root=0,
    other_names=(
        "wrist",
        *(f"thumb {joint}" for joint in ("cmc", "mcp", "ip", "tip")),
        *(f"{finger} {joint}" for finger in _FINGERS[1:] for joint in ("mcp", "pip", "dip", "tip")),
    ),
    axes=(3, 2),
)
"""MediaPipe's order, which the browser and the phone emit: the wrist, then four joints a finger outward."""

SHREC_22 = Layout(
    "shrec hand",
    (
        "wrist",
        "palm",
        *(f"{finger} {joint}" for finger in _FINGERS for joint in ("base", "first", "second", "tip")),
    ),
    (
        *((0, 1), (0, 2)),
        *((1, 6 + 4 * finger) for finger in range(4)),
        *((2 + 4 * finger + step, 3 + 4 * finger + step) for finger in range(5) for step in range(3)),
    ),
    root=0,
)
"""SHREC'17: wrist, palm, then four joints a finger from the thumb."""

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
    axes=(3, 2),
)

OPENPOSE_18 = Layout(
    "openpose 18",
    (
        *("nose", "neck", "right shoulder", "right elbow", "right wrist"),
        *("left shoulder", "left elbow", "left wrist", "right hip", "right knee", "right ankle"),
        *("left hip", "left knee", "left ankle", "right eye", "left eye", "right ear", "left ear"),
    ),
    (
        *((1, 0), (0, 14), (14, 16), (0, 15), (15, 17)),
        *((1, 2), (2, 3), (3, 4), (1, 5), (5, 6), (6, 7)),
        *((1, 8), (8, 9), (9, 10), (1, 11), (11, 12), (12, 13)),
    ),
    root=1,
    axes=(2,),
)

OPENPOSE_25 = Layout(
    "openpose 25",
    (
        *("nose", "neck", "right shoulder", "right elbow", "right wrist"),
        *("left shoulder", "left elbow", "left wrist", "mid hip"),
        *("right hip", "right knee", "right ankle", "left hip", "left knee", "left ankle"),
        *("right eye", "left eye", "right ear", "left ear"),
        *("left big toe", "left small toe", "left heel", "right big toe", "right small toe", "right heel"),
    ),
    (
        *((1, 0), (0, 15), (15, 17), (0, 16), (16, 18), (1, 8)),
        *((1, 2), (2, 3), (3, 4), (1, 5), (5, 6), (6, 7)),
        *((8, 9), (9, 10), (10, 11), (11, 22), (22, 23), (11, 24)),
        *((8, 12), (12, 13), (13, 14), (14, 19), (19, 20), (14, 21)),
    ),
    root=8,
    axes=(2,),
)

MEDIAPIPE_POSE = Layout(
    "mediapipe pose",
    (
        "nose",
        *(f"{side} eye{part}" for side in ("left", "right") for part in (" inner", "", " outer")),
        *("left ear", "right ear", "mouth left", "mouth right"),
        *(
            f"{side} {part}"
            for part in ("shoulder", "elbow", "wrist", "little", "index", "thumb", "hip", "knee", "ankle")
            for side in ("left", "right")
        ),
        *("left heel", "right heel", "left foot index", "right foot index"),
    ),
    (
        *((0, 1), (1, 2), (2, 3), (3, 7), (0, 4), (4, 5), (5, 6), (6, 8), (0, 9), (0, 10)),
        *((0, 11), (0, 12), (11, 13), (13, 15), (12, 14), (14, 16)),
        *((15, 17), (15, 19), (15, 21), (16, 18), (16, 20), (16, 22)),
        *((11, 23), (12, 24), (23, 25), (25, 27), (24, 26), (26, 28)),
        *((27, 29), (27, 31), (28, 30), (28, 32)),
    ),
    root=0,
    axes=(3, 2),
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

_SINGLE = (
    *(HAND, MEDIAPIPE_HAND, SHREC_22),
    *(SBU_15, KINECT_20, NTU_25),
    *(COCO_17, OPENPOSE_18, OPENPOSE_25, MEDIAPIPE_POSE),
)

LAYOUTS = (
    *_SINGLE,
    SBU_PAIR,
    *(layout.twice(f"{layout.name} pair") for layout in _SINGLE if layout is not SBU_15),
)
"""Every layout that is known by name; a pair is two skeletons side by side."""
