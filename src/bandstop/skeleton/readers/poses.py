"""Folders of classes with 2-D poses in JSON, of OpenPose or of the tools of COCO."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bandstop.errors import DataError
from bandstop.skeleton.readers.classes import read_classes
from bandstop.skeleton.readers.clip import Clip
from bandstop.skeleton.readers.files import read_text, sorted_entries
from bandstop.skeleton.readers.json_text import parse_json
from bandstop.skeleton.readers.landmarks import check_frames
from bandstop.skeleton.readers.mediapipe import clip_of_document, read_landmarks
from bandstop.skeleton.readers.pose_json import coco_clip, is_coco, is_openpose, openpose_clip
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["read_any_json", "read_coco", "read_openpose"]


def read_openpose(path: Path) -> SequenceSet:
    """Class folders that hold a folder of JSON files a sequence, or a JSON file that lists its frames."""
    return read_classes(path, (".json",), _openpose, folders=True, name=path.resolve().name)


def read_coco(path: Path) -> SequenceSet:
    """Class folders with one JSON file a sequence."""
    return read_classes(path, (".json",), _coco, name=path.resolve().name)


def read_any_json(path: Path) -> Clip:
    """One file of MediaPipe, OpenPose or COCO, told apart by what it holds."""
    if path.suffix.lower() == ".jsonl":
        return read_landmarks(path)
    text = read_text(path)
    document = parse_json(text, path)
    if is_openpose(document):
        return _of_openpose(document, path)
    return coco_clip(document, path) if is_coco(document) else clip_of_document(document, text, path)


def _openpose(path: Path) -> Clip:
    if not path.is_dir():
        return _of_openpose(parse_json(read_text(path), path), path)
    files = [entry for entry in sorted_entries(path, path) if entry.suffix.lower() == ".json"]
    if not files:
        raise DataError("no JSON file in this folder of frames", path=path)
    _check(len(files), path)
    return openpose_clip([parse_json(read_text(file, path), file) for file in files], path)


def _of_openpose(document: Any, path: Path) -> Clip:
    if not is_openpose(document):
        raise DataError('expected {"people": […]}, or a list of such frames', path=path, line=1)
    frames = document if isinstance(document, list) else [document]
    _check(len(frames), path)
    return openpose_clip(frames, path)


def _coco(path: Path) -> Clip:
    document = parse_json(read_text(path), path)
    if not is_coco(document):
        raise DataError("expected keypoints, annotations or instance_info", path=path, line=1)
    return coco_clip(document, path)


def _check(frames: int, path: Path) -> None:
    try:
        check_frames(frames)
    except ValueError as problem:
        raise DataError(str(problem), path=path, line=1) from problem
