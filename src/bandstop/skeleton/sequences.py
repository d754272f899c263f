"""The neutral container of skeleton sequences: what every reader gives and everything else takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandstop.errors import DataError
from bandstop.skeleton.coerce import as_edges, as_integers, as_joints, as_texts
from bandstop.skeleton.repair import fill_gaps, lost_joints, missing_values

__all__ = ["SPLITS", "SequenceSet"]

SPLITS = ("train", "test", "")


@dataclass(frozen=True, eq=False)
class SequenceSet:
    """N sequences of V joints, concatenated in time: sequence i is ``joints[offsets[i]:offsets[i+1]]``.

    ``split`` holds "train", "test" or "" (undecided); ``fold`` the 1-based fold of cross-validation or None;
    ``root`` the joint that everything else hangs from (wrist, spine); ``edges`` the bones as joint pairs.

    >>> wave = np.zeros((4, 2, 3), np.float32)
    >>> s = SequenceSet.from_sequences([wave, wave + 1], labels=[0, 1], class_names=["rest", "wave"])
    >>> len(s), s[1].shape, s.lengths.tolist(), s.subset(s.labels == 1).sequence_ids.tolist()
    (2, (4, 2, 3), [4, 4], ['1'])
    """

    joints: NDArray[np.float32]
    offsets: NDArray[np.int64]
    labels: NDArray[np.int64]
    subjects: NDArray[np.str_]
    split: NDArray[np.str_]
    edges: NDArray[np.int64]
    class_names: tuple[str, ...]
    sequence_ids: NDArray[np.str_] = None  # type: ignore[assignment]  # "0", "1", … when not given
    fold: NDArray[np.int64] | None = None
    name: str = ""
    root: int = 0
    joint_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Coerce every field to its documented type and check that they agree."""
        put = object.__setattr__
        put(self, "joints", as_joints(self.joints))
        offsets = as_integers("offsets", self.offsets)
        if (
            not offsets.size
            or offsets[0] != 0
            or offsets[-1] != len(self.joints)
            or (np.diff(offsets) < 1).any()
        ):
            raise DataError("offsets must rise from 0 to the number of frames, at least one frame a sequence")
        put(self, "offsets", offsets)
        count, nodes = len(offsets) - 1, self.joints.shape[1]
        put(self, "labels", as_integers("labels", self.labels))
        put(self, "subjects", as_texts("subjects", self.subjects))
        put(self, "split", as_texts("split", self.split))
        ids = np.arange(count) if self.sequence_ids is None else self.sequence_ids
        put(self, "sequence_ids", as_texts("sequence_ids", ids))
        put(self, "fold", None if self.fold is None else as_integers("fold", self.fold))
        for field in ("labels", "subjects", "split", "sequence_ids", "fold"):
            found = getattr(self, field)
            if found is not None and len(found) != count:
                raise DataError(
                    f"{field} must have one value a sequence: {count} expected, {len(found)} found"
                )
        put(self, "class_names", tuple(as_texts("class_names", self.class_names).tolist()))
        put(self, "joint_names", tuple(as_texts("joint_names", self.joint_names).tolist()))
        put(self, "edges", as_edges(self.edges, nodes))
        classes = len(self.class_names)
        if len(set(self.class_names)) != classes:
            raise DataError("class_names must differ from each other")
        if count and not (self.labels.min() >= 0 and self.labels.max() < classes):
            wrong = self.labels[(self.labels < 0) | (self.labels >= classes)][0]
            raise DataError(
                f"labels must lie between 0 and {classes - 1} ({classes} class names), found {wrong}"
            )
        if not np.isin(self.split, SPLITS).all():
            wrong_split = self.split[~np.isin(self.split, SPLITS)][0]
            raise DataError(f'split must be "train", "test" or "", found {str(wrong_split)[:40]!r}')
        if not 0 <= self.root < nodes:
            raise DataError(f"root must be one of the joints 0 to {nodes - 1}, found {self.root}")
        if self.joint_names and len(self.joint_names) != nodes:
            raise DataError(
                f"joint_names must name all {nodes} joints or none, found {len(self.joint_names)}"
            )

    @classmethod
    def from_sequences(
        cls,
        sequences: Sequence[NDArray[Any]],
        *,
        labels: ArrayLike,
        class_names: Sequence[str],
        edges: ArrayLike = (),
        subjects: ArrayLike | None = None,
        split: ArrayLike | None = None,
        sequence_ids: ArrayLike | None = None,
        fold: ArrayLike | None = None,
        name: str = "",
        root: int = 0,
        joint_names: Sequence[str] = (),
    ) -> SequenceSet:
        """Concatenate arrays [T, V, 3]; subjects and split are "" where not given."""
        if not len(sequences):
            raise DataError("a set needs at least one sequence, found none")
        blank = np.full(len(sequences), "")
        given: dict[str, Any] = {"sequence_ids": sequence_ids, "fold": fold, "edges": edges, "labels": labels}
        return cls(
            joints=np.concatenate([np.asarray(s, np.float32) for s in sequences]),
            offsets=np.cumsum([0, *(len(s) for s in sequences)], dtype=np.int64),
            subjects=blank if subjects is None else np.asarray(subjects),
            split=blank if split is None else np.asarray(split),
            class_names=tuple(class_names),
            name=name,
            root=root,
            joint_names=tuple(joint_names),
            **given,
        )

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> NDArray[np.float32]:
        """The sequence ``index`` as a view [T, V, 3]."""
        index = range(len(self))[index]
        return self.joints[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        return (self[index] for index in range(len(self)))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Frames of each sequence."""
        return np.diff(self.offsets)

    def subset(self, which: ArrayLike) -> SequenceSet:
        """The sequences of a boolean mask [N], or of a list of indexes in its order; classes are kept."""
        chosen = np.asarray(which)
        index = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.int64)
        lengths = self.lengths[index]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        frames = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][index] - offsets[:-1], lengths)
        return replace(
            self,
            joints=self.joints[frames],
            offsets=offsets,
            labels=self.labels[index],
            subjects=self.subjects[index],
            split=self.split[index],
            sequence_ids=self.sequence_ids[index],
            fold=None if self.fold is None else self.fold[index],
        )

    def repaired(self) -> SequenceSet:
        """Joints that are not finite, and all joints of all-zero frames, interpolated over time.

        A joint never seen in a sequence cannot be repaired: :class:`DataError` with the sequence's id.
        """
        lost = lost_joints(self.joints, self.offsets, self.edges)
        if lost.any():
            sequence, joint = np.argwhere(lost)[0]
            others = int(lost.any(axis=1).sum()) - 1
            also = f", and {others:,} more sequences are like it" if others else ""
            raise DataError(
                f"sequence {self.sequence_ids[sequence]!s}: joint {joint} has no usable frame"
                f" (all are non-finite or zero){also}",
                hint="--drop unusable leaves such sequences out",
            )
        missing = missing_values(self.joints)
        if not missing.any():
            return self
        joints = self.joints.copy()
        for i in np.flatnonzero(np.logical_or.reduceat(missing.any(axis=1), self.offsets[:-1])):
            frames = slice(self.offsets[i], self.offsets[i + 1])
            joints[frames] = fill_gaps(joints[frames], missing[frames])
        return replace(self, joints=joints)
