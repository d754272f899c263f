"""Recordings as ordinary files: a folder of class folders, one CSV a recording, whole or not at all."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.files import atomic_write, write_text
from bandstop.live.stream import NONE
from bandstop.skeleton import load_file, match_joints
from bandstop.skeleton.layouts import HAND

__all__ = ["FRAMES_PER_SECOND", "JOINTS", "Recording", "Recordings", "read_landmark_file"]

FRAMES_PER_SECOND = 30
"""The page puts frames on this clock before it sends them, however fast the camera is."""
JOINTS = 21
MOST_FRAMES = 30 * 600
_HEADER = ",".join(f"{joint.replace(' ', '_')}_{axis}" for joint in HAND.joint_names for axis in "xyz")
_IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9-]{3,63}")


@dataclass(frozen=True)
class Recording:
    """One recording: its class, its name, how many frames it has, and when it was stored (seconds)."""

    class_name: str
    identifier: str
    frames: int
    recorded: float


def checked_class(name: str) -> str:
    """A class name that is also a folder's name.

    >>> checked_class(" wave ")
    'wave'
    """
    name = " ".join(name.split())
    bad = set('/\\:*?"<>|') & set(name)
    if not 1 <= len(name) <= 60 or name[0] == "." or bad or not name.isprintable():
        raise DataError(
            'a class name has 1 to 60 letters, without / \\ : * ? " < > | and no dot in front, '
            f"found {name[:80]!r}"
        )
    return name


def read_landmark_file(name: str, data: bytes) -> NDArray[np.float32]:
    r"""Frames ``[T, 21, 3]`` of a file as `bandstop train` reads it, in the studio's order of joints.

    >>> header = ",".join(f"{joint}_{axis}" for joint in range(21) for axis in "xyz")
    >>> rows = [",".join(map(str, range(63)))] * 2
    >>> read_landmark_file("two.csv", "\n".join([header, *rows]).encode()).shape
    (2, 21, 3)
    """
    suffix = Path(name).suffix.lower()
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        path = Path(made) / f"landmarks{suffix if suffix.isascii() else ''}"
        path.write_bytes(data)
        try:
            found = load_file(path)
            ordered = match_joints(found, HAND.joint_names, JOINTS).repaired()
        except DataError as problem:
            raise DataError(str(problem).replace(str(path), name[:80])) from None
    frames = np.asarray(ordered[0], np.float32)
    if len(frames) > MOST_FRAMES:
        raise DataError(f"{name[:80]} has {len(frames)} frames; a recording has at most {MOST_FRAMES}")
    return frames


class Recordings:
    """The recordings below ``folder``; deleted ones are moved to ``bin``, from where they can come back."""

    def __init__(self, folder: Path, bin_folder: Path) -> None:
        self.folder, self.bin = folder, bin_folder

    def _path(self, class_name: str, identifier: str) -> Path:
        if not _IDENTIFIER.fullmatch(identifier):
            raise DataError(
                f"a recording's name has 4 to 64 letters a-z, digits and dashes, found {identifier[:80]!r}"
            )
        return self.folder / checked_class(class_name) / f"{identifier}.csv"

    def add_class(self, name: str) -> str:
        """Make an empty class."""
        name = checked_class(name)
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        return name

    def remove_class(self, name: str) -> None:
        """Remove a class that has no recording."""
        place = self.folder / checked_class(name)
        if place.is_dir() and any(place.glob("*.csv")):
            raise DataError(f"the class {name!r} still has recordings; delete them first")
        if place.is_dir():
            place.rmdir()

    def save(self, class_name: str, identifier: str, frames: NDArray[np.float32]) -> Recording:
        """Store frames ``[T, 21, 3]``; sending the same identifier twice is harmless."""
        if frames.ndim != 3 or frames.shape[1:] != (JOINTS, 3) or not 2 <= len(frames) <= MOST_FRAMES:
            raise DataError(
                f"a recording has 2 to {MOST_FRAMES} frames of {JOINTS} joints, "
                f"found shape {list(frames.shape)}"
            )
        if not np.isfinite(frames).all():
            raise DataError("a recording has finite numbers only")
        path = self._path(class_name, identifier)
        lines = [_HEADER, *(",".join(f"{value:.6g}" for value in frame.ravel()) for frame in frames)]
        self._write_edges()
        with atomic_write(path) as part:
            part.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return _recording(path)

    def _write_edges(self) -> None:
        edges = self.folder / "edges.csv"
        if not edges.is_file():
            write_text(edges, "".join(f"{a},{b}\n" for a, b in HAND.edges))

    def read(self, class_name: str, identifier: str) -> NDArray[np.float32]:
        """Frames ``[T, 21, 3]`` of a recording."""
        path = self._path(class_name, identifier)
        if not path.is_file():
            raise DataError(f"there is no recording {identifier} of {class_name}")
        table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.float32, ndmin=2)
        return np.asarray(table.reshape(len(table), JOINTS, 3), dtype=np.float32)

    def delete(self, class_name: str, identifier: str) -> None:
        """Move a recording to the bin."""
        path = self._path(class_name, identifier)
        if path.is_file():
            target = self.bin / path.parent.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)

    def restore(self, class_name: str, identifier: str) -> Recording:
        """Take a deletion back."""
        path = self._path(class_name, identifier)
        kept = self.bin / path.parent.name / path.name
        if not kept.is_file():
            raise DataError(f"there is no deleted recording {identifier} of {class_name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        kept.replace(path)
        return _recording(path)

    def classes(self) -> dict[str, list[Recording]]:
        """Every class in order of its name, `none` last, with its recordings, oldest first."""
        found: dict[str, list[Recording]] = {}
        for place in sorted(self._folders(), key=lambda p: (p.name == NONE, p.name.lower())):
            files = sorted(place.glob("*.csv"), key=lambda file: (file.stat().st_mtime_ns, file.name))
            files = [file for file in files if _IDENTIFIER.fullmatch(file.stem)]
            found[place.name] = [_recording(file) for file in files]
        return found

    def _folders(self) -> Iterator[Path]:
        if self.folder.is_dir():
            yield from (p for p in self.folder.iterdir() if p.is_dir() and not p.name.startswith("."))


def _recording(path: Path) -> Recording:
    with path.open("rb") as stream:
        frames = max(0, sum(1 for _ in stream) - 1)
    return Recording(path.parent.name, path.stem, frames, path.stat().st_mtime)
