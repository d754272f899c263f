"""What the report needs of model.safetensors: what the first layer makes of the joints, and the skeleton."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError, MissingExtra
from bandstop.record.signal import PARTS, SHARED

__all__ = ["Weights", "joint_reads", "read_weights"]

FIRST_CONVOLUTION = "blocks.0.conv.weight"
"""The weight of a TCN that reads the joints."""


@dataclass(frozen=True)
class Weights:
    """What the first layer makes of the joints, and the skeleton to draw it on."""

    adjacency: NDArray[np.float64] | None = None
    """GCN: heads ``[K, V, V]``."""
    reads: tuple[tuple[str, NDArray[np.int64]], ...] = ()
    """TCN: for each part of the signal how many connections read it of each joint ``[V]``."""
    edges: tuple[tuple[int, int], ...] = ()
    pose: NDArray[np.float64] | None = None
    root: int = 0
    joint_names: tuple[str, ...] = ()


def read_weights(path: Path) -> Weights:
    """Read the first layer and the skeleton; every other tensor stays on disk."""
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
            first = file.get_tensor(FIRST_CONVOLUTION) if FIRST_CONVOLUTION in names else None
    except (SafetensorError, OSError, TypeError, ValueError) as error:
        raise DataError(f"is not a readable safetensors file ({error})", path=path) from None
    return _assemble(heads, first, {key: _json(text, key, path) for key, text in metadata.items()}, path)


def _assemble(
    heads: NDArray[Any] | None, first: NDArray[Any] | None, metadata: dict[str, Any], path: Path
) -> Weights:
    normaliser = metadata.get("normaliser")
    normaliser = normaliser if isinstance(normaliser, dict) else {}
    if heads is None or heads.ndim != 3 or heads.shape[1] != heads.shape[2]:
        heads = None
    scales = normaliser.get("node_scale")
    joints = heads.shape[1] if heads is not None else len(scales) if isinstance(scales, list) else 0
    reads = () if first is None else joint_reads(first, joints, _part_names(normaliser))
    if heads is None and not reads:
        return Weights()
    root = normaliser.get("root", 0)
    names = metadata.get("joint_names")
    return Weights(
        adjacency=None if heads is None else np.nan_to_num(heads.astype(np.float64)),
        reads=reads,
        edges=_edges(metadata.get("edges") or normaliser.get("edges") or [], joints, path),
        pose=_pose(metadata.get("pose"), joints),
        root=root if isinstance(root, int) and 0 <= root < joints else 0,
        joint_names=tuple(map(str, names)) if isinstance(names, list) and len(names) == joints else (),
    )


def joint_reads(
    weight: NDArray[Any], joints: int, parts: tuple[str, ...]
) -> tuple[tuple[str, NDArray[np.int64]], ...]:
    """How many connections of a first convolution ``[width, V·K, kernel]`` read each part of each joint.

    Nothing where the sizes do not fit; parts that all joints share belong to none of them.

    >>> weight = np.ones((1, 8, 1)); weight[0, 7] = 0
    >>> [(part, counts.tolist()) for part, counts in joint_reads(weight, 2, ("places", "duration"))]
    [('places', [3, 3]), ('duration', [1, 0])]
    """
    own = [part for part in parts if part not in SHARED]
    values = sum(PARTS[part] for part in own)
    shared = sum(PARTS[part] for part in parts if part in SHARED)
    if weight.ndim != 3 or not joints or weight.shape[1] != joints * values + shared:
        return ()
    counts = np.count_nonzero(weight[:, : joints * values], axis=(0, 2)).reshape(joints, values)
    ends = np.cumsum([PARTS[part] for part in own])
    return tuple(
        (part, counts[:, end - PARTS[part] : end].sum(axis=1)) for part, end in zip(own, ends, strict=True)
    )


def _part_names(normaliser: dict[str, Any]) -> tuple[str, ...]:
    """The parts of the signal; places alone where none are named."""
    found = normaliser.get("parts")
    rows = found if isinstance(found, list) else []
    names = [row.get("name") if isinstance(row, dict) else None for row in rows]
    return tuple(str(name) for name in names if name in PARTS) if names else ("places",)


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
