"""The landmarks of a frame in the many shapes of JSON that MediaPipe's versions and their users write.

A frame is 21 points of a hand or 33 of a pose, each ``{"x", "y", "z"}`` or ``[x, y, z]``, or an object
that holds them under ``landmarks``, ``hand_landmarks``, ``pose_landmarks`` or one of the other names of
MediaPipe's versions (a HandLandmarkerResult, GestureRecognizerResult or PoseLandmarkerResult among them). Of
several hands or people the first is taken; world landmarks only where there are no others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.skeleton.layout import Layout
from bandstop.skeleton.layouts import MEDIAPIPE_HAND, MEDIAPIPE_POSE
from bandstop.skeleton.limits import RAISE, allowed
from bandstop.skeleton.readers.json_text import number_of

__all__ = ["KEYS", "MOST_FRAMES", "Points", "check_frames", "frames_of", "is_one_result", "points_of"]

MOST_FRAMES = 200_000
"""Most frames of a recording in JSON: nearly two hours at 30 a second."""

Points = list[list[float]]

_WHOSE = ("", "multi_hand_", "hand_", "pose_", "multi_pose_")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


KEYS = tuple(
    spelling
    for kind in ("landmarks", "landmark", "world_landmarks")
    for whose in _WHOSE
    for spelling in dict.fromkeys((whose + kind, _camel(whose + kind)))
)
_RESULT = (
    "handedness",
    "handednesses",
    "multi_handedness",
    "multiHandedness",
    "gestures",
    "segmentation_masks",
)
_MOST_NESTING, _MOST_HANDS = 8, 4


def is_one_result(document: Any) -> bool:
    """Whether a document is the result of one frame, as MediaPipe Tasks gives it, rather than a recording.

    >>> is_one_result({"landmarks": [[], []], "handedness": []}), is_one_result({"landmarks": [[], []]})
    (True, False)
    """
    if not isinstance(document, dict) or not any(key in document for key in _RESULT):
        return False
    found = next((document[key] for key in KEYS if key in document), None)
    return isinstance(found, list) and len(found) <= _MOST_HANDS


def points_of(frame: Any, nesting: int = 0) -> Points | None:
    """The points of the first hand or person of a frame, or None; ``ValueError`` if it is wrong.

    >>> points_of({"hand_landmarks": [[{"x": i, "y": 0, "z": 1} for i in range(21)]]})[20]
    [20.0, 0.0, 1.0]
    >>> points_of({"hand_landmarks": []}) is None
    True
    """
    if frame is None or frame == []:
        return None
    if nesting > _MOST_NESTING:
        raise ValueError("landmarks are nested too deep")
    if isinstance(frame, dict):
        key = next((key for key in KEYS if key in frame), None)
        if key is None:
            raise ValueError("a frame must have landmarks under one of landmarks, hand_landmarks, …")
        return points_of(frame[key], nesting + 1)
    if not isinstance(frame, list):
        raise ValueError(f"a frame must be a list of landmarks, found {type(frame).__name__}")
    if _is_body(frame[0]):
        return points_of(frame[0], nesting + 1)
    if len(frame) not in (MEDIAPIPE_HAND.nodes, MEDIAPIPE_POSE.nodes):
        raise ValueError(f"a hand must have 21 landmarks, found {len(frame)} (a pose has 33)")
    return [_point(point) for point in frame]


def frames_of(found: Sequence[Points | None]) -> tuple[NDArray[np.float64], Layout]:
    """Frames [T, V, 3] with not-a-number where nothing was seen, and whose they are."""
    counts = {len(points) for points in found if points is not None}
    if len(counts) > 1:
        raise ValueError("some frames hold a hand and others a pose: write one file of each")
    layout = MEDIAPIPE_POSE if counts == {MEDIAPIPE_POSE.nodes} else MEDIAPIPE_HAND
    absent = [[math.nan] * 3] * layout.nodes
    return np.array([absent if points is None else points for points in found]), layout


def check_frames(count: int) -> None:
    """Refuse a recording that is very long: in JSON a frame without a hand takes two characters."""
    if count > (limit := allowed(MOST_FRAMES)):
        raise ValueError(f"more than {limit:,} frames; {RAISE}")


def _is_body(first: Any) -> bool:
    """Whether the first element of a list is itself a hand or a pose, not a point."""
    if isinstance(first, dict):
        return "x" not in first
    return first is None or first == [] or (isinstance(first, list) and isinstance(first[0], (dict, list)))


def _point(point: Any) -> list[float]:
    values = [point.get("x"), point.get("y"), point.get("z", 0.0)] if isinstance(point, dict) else point
    if not isinstance(values, list) or len(values) not in (2, 3):
        raise ValueError("a landmark must be x, y and z")
    return [number_of(value) for value in (*values, 0.0)[:3]]
