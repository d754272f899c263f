"""What the report needs of model.safetensors: adjacency heads, skeleton, and a pose to draw them on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError, MissingExtra

__all__ = ["Weights", "read_weights"]


@dataclass(frozen=True)
class Weights:
    """Adjacency heads ``[K, V, V]`` (None: there are none), bones, mean pose ``[V, 3]``, joint names."""

    adjacency: NDArray[np.float64] | None = None
    edges: tuple[tuple[int, int], ...] = ()
    pose: NDArray[np.float64] | None = None
    root: int = 0
    joint_names: tuple[str, ...] = ()


def read_weights(path: Path) -> Weights:
    """Read the adjacency and the skeleton; every other tensor stays on disk."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise MissingExtra("safetensors", extra="app") from None
    if not path.is_file():
        raise DataError(
            "a finished run folder must hold this file and it is not there",
            path=path,
            hint="write the run again with 'bandstop train', or restore the file",
        )
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
            names: list[str] = list(file.keys())
            heads = next(
                (file.get_tensor(name) for name in names if name.split(".")[-1] == "adjacency"), None
            )
    except (SafetensorError, OSError, TypeError, ValueError) as error:
        raise DataError(f"is not a readable safetensors file ({error})", path=path) from None
    return _assemble(heads, {key: _json(text, key, path) for key, text in metadata.items()}, path)


def _assemble(heads: NDArray[Any] | None, metadata: dict[str, Any], path: Path) -> Weights:
    if heads is None or heads.ndim != 3 or heads.shape[1] != heads.shape[2]:
        return Weights()
    joints = heads.shape[1]
    normaliser = metadata.get("normaliser")
    normaliser = normaliser if isinstance(normaliser, dict) else {}
    root = normaliser.get("root", 0)
    names = metadata.get("joint_names")
    return Weights(
        adjacency=np.nan_to_num(heads.astype(np.float64)),
        edges=_edges(metadata.get("edges") or normaliser.get("edges") or [], joints, path),
        pose=_pose(metadata.get("pose"), joints),
        root=root if isinstance(root, int) and 0 <= root < joints else 0,
        joint_names=tuple(map(str, names)) if isinstance(names, list) and len(names) == joints else (),
    )


def _pose(found: object, joints: int) -> NDArray[np.float64] | None:
    """A pose that cannot be used is no pose: the bones are laid out instead."""
    try:
        pose = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return pose if pose.shape == (joints, 3) and bool(np.isfinite(pose).all()) else None


def _edges(found: object, joints: int, path: Path) -> tuple[tuple[int, int], ...]:
    def bone(pair: object) -> bool:
        return (
            isinstance(pair, list)
            and len(pair) == 2
            and all(isinstance(joint, int) and 0 <= joint < joints for joint in pair)
        )

    if not isinstance(found, list) or not all(bone(pair) for pair in found):
        raise DataError(f"the metadata's 'edges' must be pairs of joints 0 to {joints - 1}", path=path)
    return tuple((pair[0], pair[1]) for pair in found)


def _json(text: str, key: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # Free-text entries (a note, a format tag) are welcome; the ones read here must be JSON.
        if key in ("edges", "normaliser", "joint_names"):
            raise DataError(f"the metadata's '{key}' is not valid JSON", path=path) from None
        return text
