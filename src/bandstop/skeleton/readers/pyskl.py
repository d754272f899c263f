"""pyskl pickles: a dictionary of ``split`` and ``annotations``, or a plain list of annotations.

An annotation has ``frame_dir`` (its id), ``label`` and ``keypoint`` [persons, frames, joints, 2 or 3]. The
first two persons are read if any sequence has two, otherwise one; the joints of two persons stand side by
side. Labels have no names in these files: the classes are ``class 0``, ``class 1``, … With ``PATH@NAME``
the splits ``NAME_train`` and ``NAME_val`` (or ``NAME_test``) are used, and sequences outside them left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.arrays import MAX_ARRAY_BYTES
from bandstop.skeleton.guess import guess_layout
from bandstop.skeleton.limits import RAISE, allowed
from bandstop.skeleton.readers.assemble import assemble
from bandstop.skeleton.readers.clip import as_sequence
from bandstop.skeleton.readers.files import reason
from bandstop.skeleton.readers.stored_array import RefusedError, StoredArray
from bandstop.skeleton.readers.unpickle import unpickle
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["read_pyskl"]

_MOST_CLASSES = 10_000
_FREELY, _MOST_RATIO = 16 * 2**20, 8
"""Half floats in the plane become three floats, of two persons where any sequence has two."""
_ROLE = re.compile(r"_?(train|val|test)_?")


def read_pyskl(path: Path, split: str | None = None) -> SequenceSet:
    """Read a pyskl pickle with the split called ``split``; None: the only one of the file, if it has one."""
    content = _unpickled(path)
    annotations = content.get("annotations") if isinstance(content, dict) else content
    if not isinstance(annotations, list) or not annotations:
        raise DataError("expected a list of annotations, or a dictionary that has one", path=path)
    listed = content.get("split") if isinstance(content, dict) else None
    role_of = _roles(listed, split, path)
    ids, labels, keypoints, roles = [], [], [], []
    for number, annotation in enumerate(annotations):
        name, label, keypoint = _parts(annotation, number, path)
        if role_of is not None and name not in role_of:
            continue
        ids.append(name)
        labels.append(label)
        keypoints.append(keypoint)
        roles.append("" if role_of is None else role_of[name])
    if not ids:
        raise DataError("the chosen split names none of the annotations", path=path)
    paired = any(k.shape[0] > 1 and k[0].any() and k[1].any() for k in keypoints)
    _check_total(sum(k.shape[1] * k.shape[2] * (2 if paired else 1) for k in keypoints), path)
    sequences = [as_sequence(stacked, path) for stacked in _stack_persons(keypoints, paired)]
    s = assemble(
        path,
        sequences,
        [path / name for name in ids],
        labels=np.array(labels),
        class_names=[f"class {number}" for number in range(max(labels) + 1)],
        split=roles,
        sequence_ids=ids,
        name=path.stem,
    )
    return s.with_layout(guess_layout(sequences[0]), guessed=True)


def _unpickled(path: Path) -> Any:
    try:
        if not path.is_file():
            raise DataError("no such file" if not path.exists() else "not a regular file", path=path)
        if path.stat().st_size > (limit := allowed(MAX_ARRAY_BYTES)):
            raise DataError(f"holds more than {limit:,} bytes", path=path, hint=RAISE)
        with path.open("rb") as stream:
            return unpickle(stream)
    except DataError:
        raise
    except RefusedError as problem:
        raise DataError(f"refused: {problem}", path=path) from problem
    except Exception as problem:  # a broken pickle is a broken program: it fails in any way
        raise DataError(f"not a readable pickle ({reason(problem)})", path=path) from problem


def _parts(annotation: Any, number: int, path: Path) -> tuple[str, int, NDArray[Any]]:
    """Id, label and keypoint [M, T, V, C] of one annotation."""
    where = f"annotation {number}"
    if not isinstance(annotation, dict):
        raise DataError(f"{where} is not a dictionary", path=path)
    name, label, stored = (annotation.get(key) for key in ("frame_dir", "label", "keypoint"))
    keypoint = stored.value if isinstance(stored, StoredArray) else stored
    if not isinstance(name, str) or not name:
        raise DataError(f"{where} has no frame_dir", path=path)
    if type(label) is not int or not 0 <= label < _MOST_CLASSES:
        raise DataError(f"{where} ({name!a:.60}) must have a label from 0 to {_MOST_CLASSES - 1}", path=path)
    if (
        not isinstance(keypoint, np.ndarray)
        or keypoint.ndim != 4
        or keypoint.shape[3] not in (2, 3)
        or 0 in keypoint.shape
        or keypoint.dtype.kind not in "iuf"
    ):
        found = f"shape {keypoint.shape}" if isinstance(keypoint, np.ndarray) else type(keypoint).__name__
        rule = "keypoint must be numbers [persons, frames, joints, 2 or 3]"
        raise DataError(f"{where} ({name!a:.60}): {rule}, found {found}", path=path)
    return name, label, keypoint


def _check_total(points: int, path: Path) -> None:
    """The same array may be named a million times in a small file."""
    if 12 * points > (limit := allowed(_FREELY + _MOST_RATIO * path.stat().st_size)):
        raise DataError(f"the sequences take more than {limit:,} bytes", path=path, hint=RAISE)


def _stack_persons(keypoints: list[NDArray[Any]], paired: bool) -> list[NDArray[Any]]:
    """[M, T, V, C] → [T, V, C], or [T, 2 V, C] for all when one of them has a second person."""
    if not paired:
        return [next((person for person in keypoint if person.any()), keypoint[0]) for keypoint in keypoints]
    absent = [np.zeros_like(k[0]) if k.shape[0] < 2 else k[1] for k in keypoints]
    return [np.concatenate([k[0], second], axis=1) for k, second in zip(keypoints, absent, strict=True)]


def _roles(listed: Any, wanted: str | None, path: Path) -> dict[str, str] | None:
    """Which sequence is "train" or "test" under the wanted split; None when the file has no split."""
    if listed is None or (isinstance(listed, dict) and not listed):
        if wanted is not None:
            raise DataError(f"the file has no splits, so not {wanted!a:.60}", path=path)
        return None
    if not isinstance(listed, dict):
        raise DataError("split must be a dictionary of names and lists of frame_dir", path=path)
    families: dict[str, dict[str, Any]] = {}
    for name, members in listed.items():
        role = _ROLE.search(name) if isinstance(name, str) else None
        if role is None:
            continue
        families.setdefault(name.replace(role[0], "", 1), {})[role[1]] = members
    if wanted is None and len(families) == 1:
        wanted = next(iter(families))
    if wanted not in families:
        choices = ", ".join(sorted(families)) or "none with train, val or test in its name"
        raise DataError(
            f"the file's splits are {choices!a:.200}", path=path, hint="choose one as pyskl:PATH@NAME"
        )
    family = families[wanted]
    roles: dict[str, str] = {}
    for role_name, members in (
        ("train", family.get("train")),
        ("test", family.get("test", family.get("val"))),
    ):
        if members is None:
            continue
        if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
            raise DataError(f"split {wanted!a:.60} must list the frame_dir of its sequences", path=path)
        both = next((member for member in members if roles.get(member, role_name) != role_name), None)
        if both is not None:
            raise DataError(f"{both!a:.60} is in train and in test of split {wanted!a:.60}", path=path)
        roles.update(dict.fromkeys(members, role_name))
    return roles
