"""2-D poses as OpenPose and the tools of COCO write them, in JSON.

OpenPose: a file a frame, ``{"people": [{"pose_keypoints_2d": [x, y, confidence, …]}]}`` of 18 or 25 joints,
in a folder a sequence; or all frames of a sequence as a list in one file. COCO: ``keypoints`` of 17 joints,
flat or as points, in a list of results with ``image_id`` (AlphaPose), under ``annotations`` (COCO), or in the
``instances`` of ``instance_info`` (MMPose). Of several people the one seen with the most confidence is taken;
a joint of confidence 0 is not-a-number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.layout import Layout
from bandstop.skeleton.layouts import COCO_17, OPENPOSE_18, OPENPOSE_25
from bandstop.skeleton.readers.clip import Clip, as_sequence
from bandstop.skeleton.readers.json_text import number_of

__all__ = ["coco_clip", "is_coco", "is_openpose", "openpose_clip"]

_OPENPOSE = {layout.nodes: layout for layout in (OPENPOSE_18, OPENPOSE_25)}
_KEYS = ("pose_keypoints_2d", "pose_keypoints")

Points = NDArray[np.float64]


def is_openpose(document: Any) -> bool:
    """Whether a document is a frame, or a list of frames, of OpenPose."""
    first = document[0] if isinstance(document, list) and document else document
    return isinstance(first, dict) and "people" in first


def is_coco(document: Any) -> bool:
    """Whether a document holds keypoints as COCO's tools write them."""
    if isinstance(document, dict):
        return "instance_info" in document or "annotations" in document
    return (
        isinstance(document, list)
        and bool(document)
        and isinstance(document[0], dict)
        and "keypoints" in document[0]
    )


def openpose_clip(frames: Sequence[Any], path: Path) -> Clip:
    """A sequence of frames, each ``{"people": […]}``."""
    found = []
    for number, frame in enumerate(frames):
        people = frame.get("people") if isinstance(frame, dict) else None
        if not isinstance(people, list):
            raise DataError(f"frame {number} has no list of people", path=path, line=1)
        persons = [next((p[key] for key in _KEYS if key in p), None) for p in people if isinstance(p, dict)]
        found.append(_best([_points(flat, number, path) for flat in persons if flat]))
    return _clip(found, _OPENPOSE, path)


def coco_clip(document: Any, path: Path) -> Clip:
    """A sequence of keypoints in one of the shapes of COCO's tools."""
    if isinstance(document, dict) and "instance_info" in document:
        frames = [_entries(frame, "instances", path) for frame in _entries(document, "instance_info", path)]
    else:
        results = _entries(document, "annotations", path) if isinstance(document, dict) else document
        images = document.get("images", []) if isinstance(document, dict) else []
        frames = _by_image(results, images if isinstance(images, list) else [], path)
    if not frames:
        raise DataError("no frame", path=path, line=1)
    people = [[_person(person, i, path) for person in frame] for i, frame in enumerate(frames)]
    return _clip([_best(persons) for persons in people], {COCO_17.nodes: COCO_17}, path)


def _entries(owner: Any, key: str, path: Path) -> list[Any]:
    found = owner.get(key) if isinstance(owner, dict) else None
    if not isinstance(found, list):
        raise DataError(f"expected a list under {key}", path=path, line=1)
    return found


def _by_image(results: list[Any], images: list[Any], path: Path) -> list[list[Any]]:
    """Results in order of their images; images without a result are empty frames."""
    grouped: dict[str, list[Any]] = {
        str(image.get("id")): [] for image in images if isinstance(image, dict) and "id" in image
    }
    for result in results:
        if not isinstance(result, dict) or not isinstance(result.get("image_id"), (str, int)):
            raise DataError("every result must say its image_id", path=path, line=1)
        grouped.setdefault(str(result["image_id"]), []).append(result)
    natural = sorted(grouped, key=lambda name: re.sub(r"\d+", lambda digits: digits[0].zfill(12), name))
    return [grouped[name] for name in natural]


def _person(person: Any, frame: int, path: Path) -> Points:
    if not isinstance(person, dict):
        raise DataError(f"frame {frame}: a person must be an object", path=path, line=1)
    return _points(person.get("keypoints"), frame, path, person.get("keypoint_scores"))


def _points(values: Any, frame: int, path: Path, scores: Any = None) -> Points:
    """Keypoints [V, 3] of x, y and confidence, from a flat list of threes or a list of points."""
    try:
        if not isinstance(values, list) or not values:
            raise ValueError("a person has no keypoints")
        if isinstance(values[0], list):
            points = np.array([[number_of(value) for value in point[:3]] for point in values])
        else:
            points = np.array([number_of(value) for value in values]).reshape(-1, 3)
        if points.ndim != 2 or points.shape[1] not in (2, 3):
            raise ValueError("a keypoint must be x, y and perhaps a confidence")
        if points.shape[1] == 2:
            known = isinstance(scores, list) and len(scores) == len(points)
            trust = np.array([number_of(score) for score in scores] if known else [1.0] * len(points))
            points = np.concatenate([points, trust[:, None]], axis=1)
    except (ValueError, TypeError) as problem:
        raise DataError(f"frame {frame}: {str(problem)[:80]}", path=path, line=1) from problem
    return points


def _best(persons: list[Points]) -> Points | None:
    return max(persons, key=lambda points: float(np.nansum(points[:, 2])), default=None)


def _clip(found: list[Points | None], layouts: dict[int, Layout], path: Path) -> Clip:
    counts = {len(points) for points in found if points is not None}
    layout = layouts.get(next(iter(counts), next(iter(layouts))))
    if len(counts) > 1 or layout is None:
        known, seen = " or ".join(map(str, layouts)), ", ".join(map(str, sorted(counts)))
        raise DataError(f"a person must have {known} joints, found {seen}", path=path, line=1)
    frames = np.full((len(found), layout.nodes, 2), np.nan)
    for frame, points in zip(frames, found, strict=True):
        if points is not None:
            frame[:] = np.where(points[:, 2:] > 0, points[:, :2], np.nan)
    return Clip(_flat(as_sequence(frames, path)), layout)


def _flat(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """A joint that was not seen has no z either."""
    frames[:, :, 2] = np.where(np.isfinite(frames[:, :, 0]), 0, np.nan)
    return frames
