"""Folders with one sub-folder per class, optionally under ``train/`` and ``test/``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bandstop.errors import DataError
from bandstop.skeleton.readers.assemble import assemble_clips
from bandstop.skeleton.readers.clip import Clip
from bandstop.skeleton.readers.files import sorted_entries
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["ClassFile", "class_files", "read_classes", "subjects_of"]

_SUBJECT = re.compile(r"(?:^|[_\-. ])(?:subject|subj|s|person|p)[_\- ]?(\d{1,9})(?![^_\-. ])", re.IGNORECASE)

_HINTS = {
    ".json": "JSON is read as mediapipe:PATH, openpose:PATH or coco:PATH",
    ".jsonl": "JSON is read as mediapipe:PATH, openpose:PATH or coco:PATH",
    ".mat": "UTD-MHAD is read as utd-mhad:PATH",
    ".pkl": "pyskl pickles are read as pyskl:FILE",
    ".mp4": "videos are not read: save the landmarks of a pose estimator",
}


@dataclass(frozen=True)
class ClassFile:
    """A sequence's file with the class and the split that its folders say."""

    path: Path
    class_name: str
    split: str


def class_files(root: Path, suffixes: Collection[str], *, inner_folders: bool = False) -> list[ClassFile]:
    """Files with one of ``suffixes`` in ``root/CLASS/`` or ``root/train/CLASS/`` and ``root/test/CLASS/``.

    ``inner_folders``: a folder inside a class folder is a sequence too.
    """
    folders = [entry for entry in sorted_entries(root, root) if entry.is_dir()]
    if not any(folder.name in ("train", "test") for folder in folders):
        return _in_classes(root, folders, suffixes, "", inner_folders)
    stray = [folder for folder in folders if folder.name not in ("train", "test")]
    if stray:
        raise DataError("a folder beside train/ and test/, where there must be no other", path=stray[0])
    files = []
    for folder in folders:
        inner = [entry for entry in sorted_entries(folder, root) if entry.is_dir()]
        files += _in_classes(root, inner, suffixes, folder.name, inner_folders)
    return files


def _in_classes(
    root: Path, folders: Sequence[Path], suffixes: Collection[str], split: str, inner_folders: bool
) -> list[ClassFile]:
    wanted = " ".join(sorted(suffixes))
    if not folders:
        where = root / split
        raise DataError(
            f"no class folder: expected one sub-folder per class holding {wanted} files", path=where
        )
    files = []
    for folder in folders:
        found, others = [], set()
        for entry in sorted_entries(folder, root):
            if entry.is_dir() and not inner_folders:
                raise DataError(
                    f"a folder inside a class folder, where only {wanted} files may be", path=entry
                )
            if entry.is_dir() or entry.suffix.lower() in suffixes:
                found.append(ClassFile(entry, folder.name, split))
            others.add(entry.suffix.lower())
        if not found:
            hint = next((text for suffix, text in _HINTS.items() if suffix in others), "")
            rule = f"no sequence in this class folder: expected {wanted} files"
            raise DataError(rule, path=folder, hint=hint)
        files += found
    return files


def read_classes(
    folder: Path,
    suffixes: Collection[str],
    read: Callable[[Path], Clip],
    *,
    folders: bool = False,
    **fields: Any,
) -> SequenceSet:
    """All class files of ``folder``, each by ``read``; classes in order of name, ids the relative paths."""
    files = class_files(folder, suffixes, inner_folders=folders)
    names = sorted({file.class_name for file in files})
    paths = [file.path for file in files]
    return assemble_clips(
        folder,
        [read(path) for path in paths],
        paths,
        labels=np.array([names.index(file.class_name) for file in files]),
        class_names=names,
        subjects=subjects_of([path.stem for path in paths]),
        split=[file.split for file in files],
        sequence_ids=[path.relative_to(folder).as_posix() for path in paths],
        **fields,
    )


def subjects_of(stems: Sequence[str]) -> list[str]:
    """The subject that each file name tells, or "" for all when one does not tell it.

    >>> subjects_of(["s01_wave_1", "subject2-wave"]), subjects_of(["a3_s12_t1"]), subjects_of(["s01_x", "x"])
    (['1', '2'], ['12'], ['', ''])
    """
    found = [_SUBJECT.search(stem) for stem in stems]
    return [str(int(match[1])) if all(found) and match else "" for match in found]
