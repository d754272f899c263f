"""The neutral container of skeleton sequences: what every reader gives and everything else takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandstop.errors import DataError
from bandstop.skeleton.coerce import as_edges, as_integers, as_joints, as_offsets, as_texts
from bandstop.skeleton.layout import Layout
from bandstop.skeleton.repair import DROP, fill_gaps, lost_joints, missing_values

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
    layout: str = ""
    """The known layout that the joints are those of, in its order; "" if it has no name."""
    guessed: bool = False
    """Whether joint names, bones and root were guessed from the number of joints and the lengths of bones."""

    def __post_init__(self) -> None:
        """Coerce every field to its documented type and check that they agree."""
        put = object.__setattr__
        put(self, "joints", as_joints(self.joints))
        put(self, "offsets", as_offsets(self.offsets, len(self.joints)))
        count = len(self.offsets) - 1
        ids = np.arange(count) if self.sequence_ids is None else self.sequence_ids
        put(self, "sequence_ids", as_texts("sequence_ids", ids))
        for field in ("labels", "fold"):
            if (found := getattr(self, field)) is not None:
                put(self, field, as_integers(field, found))
        for field in ("subjects", "split"):
            put(self, field, as_texts(field, getattr(self, field)))
        for field in ("class_names", "joint_names"):
            put(self, field, tuple(as_texts(field, getattr(self, field)).tolist()))
        put(self, "edges", as_edges(self.edges, self.joints.shape[1]))
        self._check_sequences(count)
        self._check_joints(self.joints.shape[1])

    def _check_sequences(self, count: int) -> None:
        for field in ("labels", "subjects", "split", "sequence_ids", "fold"):
            found = getattr(self, field)
            if found is not None and len(found) != count:
                raise DataError(
                    f"{field} must have one value a sequence: {count} expected, {len(found)} found"
                )
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

    def _check_joints(self, nodes: int) -> None:
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
        layout: str = "",
        guessed: bool = False,
    ) -> SequenceSet:
        """Concatenate arrays [T, V, 3] or [T, V, 2]; subjects and split are "" where not given."""
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
            layout=layout,
            guessed=guessed,
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

    def with_layout(self, layout: Layout | None, *, guessed: bool = False) -> SequenceSet:
        """The same joints under a layout's names, bones and root."""
        if layout is None:
            return self
        edges = np.array(layout.edges, np.int64).reshape(-1, 2)
        joints = replace(self, edges=edges, root=layout.root, joint_names=layout.joint_names)
        return replace(joints, layout=layout.name, guessed=guessed)

    def reordered(self, names: Sequence[str]) -> SequenceSet:
        """The same joints in the order of ``names``, which must be the joint names in another order.

        >>> s = SequenceSet.from_sequences([[[[1, 1, 1], [2, 2, 2]]]], labels=[0], class_names=["rest"],
        ...                                edges=[(0, 1)], joint_names=["wrist", "palm"])
        >>> turned = s.reordered(["palm", "wrist"])
        >>> turned.joints[0, :, 0].tolist(), turned.edges.tolist(), turned.root
        ([2.0, 1.0], [[1, 0]], 1)
        """
        if sorted(names) != sorted(self.joint_names):
            raise DataError(f"the joints are {', '.join(self.joint_names[:5])}…, not {', '.join(names[:5])}…")
        order = [self.joint_names.index(name) for name in names]
        place = np.argsort(order)
        return replace(
            self,
            joints=self.joints[:, order],
            edges=place[self.edges],
            root=int(place[self.root]),
            joint_names=tuple(names),
            layout="" if tuple(names) != self.joint_names else self.layout,
        )

    def repaired(
        self,
        never: NDArray[np.bool_] | None = None,
        *,
        hint: str = DROP,
    ) -> SequenceSet:
        """Joints that are not finite, and all joints of all-zero frames, interpolated over time.

        A joint never seen in a sequence cannot be repaired: :class:`DataError` with the sequence's id, and
        ``hint`` for what to do. ``never``: joints that are always zero, as `lost_joints` takes them.
        """
        lost = lost_joints(self.joints, self.offsets, self.edges, never)
        if lost.any():
            sequence, joint = np.argwhere(lost)[0]
            others = int(lost.any(axis=1).sum()) - 1
            also = f", and {others:,} more sequences are like it" if others else ""
            raise DataError(
                f"sequence {self.sequence_ids[sequence]!s}: joint {joint} has no usable frame"
                f" (all are non-finite or zero){also}",
                hint=hint,
            )
        missing = missing_values(self.joints)
        if not missing.any():
            return self
        joints = self.joints.copy()
        for i in np.flatnonzero(np.logical_or.reduceat(missing.any(axis=1), self.offsets[:-1])):
            frames = slice(self.offsets[i], self.offsets[i + 1])
            joints[frames] = fill_gaps(joints[frames], missing[frames])
        return replace(self, joints=joints)
