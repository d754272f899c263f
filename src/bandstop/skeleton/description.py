"""What a sequence set holds, in plain facts: sizes, classes, splits, and faults to know before training."""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.skeleton.repair import lost_joints
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["Description", "Duplicate", "describe"]

_MOST = 10
_NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Duplicate:
    """Sequences that are equal to the last bit."""

    ids: tuple[str, ...]
    across_splits: bool
    """Whether some are in train and some in test."""
    labels_differ: bool


@dataclass(frozen=True)
class Description:
    """The facts that ``bandstop describe`` prints."""

    name: str
    sequences: int
    frames: int
    joints: int
    edges: int
    root: str
    layout: str
    """The known layout of the joints, and whether it was guessed."""
    first_frame: Mapping[str, tuple[float, ...]]
    """Joint → x, y, z in the first frame: a wrong reading is seen there."""
    classes: Mapping[str, int]
    lengths: tuple[int, float, int]
    """Fewest, median and most frames of a sequence."""
    subjects: Mapping[str, int]
    splits: Mapping[str, int]
    folds: Mapping[str, int]
    duplicates: tuple[Duplicate, ...]
    nonfinite_values: int
    nonfinite_sequences: tuple[str, ...]
    zero_frames: int
    zero_sequences: tuple[str, ...]
    unusable: Mapping[str, str]
    """Sequence → the joint, or the first of several, that it never shows: training refuses it."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    def lines(self, *, everything: bool = False) -> list[str]:
        """The facts as lines of text, with at most ten of a kind unless ``everything`` is asked for."""
        most = None if everything else _MOST
        shortest, median, longest = self.lengths
        facts = {
            "set": self.name or "unnamed",
            "sequences": f"{self.sequences:,} ({self.frames:,} frames)",
            "joints": f"{self.joints}, root {self.root}, {self.edges} edges, {self.layout}",
            "lengths": f"{shortest} to {longest} frames, median {median:g}",
            "classes": f"{len(self.classes)}: {_counts(self.classes, most)}" + _range(self.classes, most),
            "subjects": f"{len(self.subjects)}: {_counts(self.subjects, most)}"
            if self.subjects
            else "not told",
            "split": _counts(self.splits, most) if self.splits else "none",
        }
        if self.folds:
            facts["folds"] = _counts(self.folds, most)
        facts["first frame"] = _frame(self.first_frame, most)
        facts["duplicates"] = self._duplicates(most)
        facts["non-finite"] = _fault(self.nonfinite_values, "values", self.nonfinite_sequences, most)
        facts["zero frames"] = _fault(self.zero_frames, "all-zero frames", self.zero_sequences, most)
        facts["unusable"] = _unusable(self.unusable, most)
        wrapped = []
        for title, fact in facts.items():
            for number, part in enumerate(fact.split("\n")):
                head = f"{title if number == 0 else '':<12}"
                wrapped += textwrap.wrap(
                    part,
                    100,
                    initial_indent=head,
                    subsequent_indent=" " * 12,
                    break_on_hyphens=False,
                    break_long_words=False,
                )
        return [line.replace(_NO_BREAK, " ") for line in wrapped]

    def _duplicates(self, most: int | None) -> str:
        if not self.duplicates:
            return "none"
        across = sum(group.across_splits for group in self.duplicates)
        found = [f"{len(self.duplicates)} groups of equal sequences, {across} across train and test"]
        for group in self.duplicates[:most]:
            notes = ["across train and test"] * group.across_splits + ["labels differ"] * group.labels_differ
            ids = " = ".join(group.ids[:most]) + _more(len(group.ids), most)
            found.append(ids + (f" ({', '.join(notes)})" if notes else ""))
        return "\n".join(found) + _more(len(self.duplicates), most)


def describe(s: SequenceSet) -> Description:
    """Gather the facts of ``s``.

    >>> still = np.zeros((2, 3, 3), np.float32)
    >>> both = {"labels": [0, 0], "class_names": ["rest"], "split": ["train", "test"]}
    >>> d = describe(SequenceSet.from_sequences([still, still], **both))
    >>> d.duplicates, d.zero_frames
    ((Duplicate(ids=('0', '1'), across_splits=True, labels_differ=False),), 4)
    >>> print(d.lines()[1])
    sequences   2 (4 frames)
    """
    lengths = s.lengths
    nonfinite = (~np.isfinite(s.joints)).sum(axis=(1, 2))
    zero = (s.joints == 0).all(axis=(1, 2)) & (s.joints.shape[1] > 1)  # a single point may lie at the origin
    counts = np.bincount(s.labels, minlength=len(s.class_names))
    return Description(
        name=s.name,
        sequences=len(s),
        frames=len(s.joints),
        joints=s.joints.shape[1],
        edges=len(s.edges),
        root=f"{s.root} ({s.joint_names[s.root]})" if s.joint_names else str(s.root),
        layout=_layout(s),
        first_frame=_joints_of(s),
        classes={name: int(count) for name, count in zip(s.class_names, counts, strict=True)},
        lengths=(int(lengths.min()), float(np.median(lengths)), int(lengths.max()))
        if len(s)
        else (0, 0.0, 0),
        subjects=_tally(s.subjects),
        splits=_tally(s.split),
        folds={} if s.fold is None else _tally(s.fold),
        duplicates=_find_duplicates(s),
        nonfinite_values=int(nonfinite.sum()),
        nonfinite_sequences=_owners(s, nonfinite > 0),
        zero_frames=int(zero.sum()),
        zero_sequences=_owners(s, zero),
        unusable=_unusable_of(s),
    )


def _tally(values: NDArray[Any]) -> dict[str, int]:
    """How often each value occurs: train before test, numbers in order; empty when all are ""."""
    counted = Counter(str(value) for value in values.tolist())
    if set(counted) <= {""}:
        return {}
    ordered = sorted(counted, key=lambda text: (text != "train", _natural(text)))
    return {text or "none": counted[text] for text in ordered}


def _natural(text: str) -> str:
    """A key that sorts "s2" before "s10"."""
    return re.sub(r"\d+", lambda digits: digits[0].zfill(12), text)


def _owners(s: SequenceSet, frames: NDArray[np.bool_]) -> tuple[str, ...]:
    """Ids of the sequences that the marked frames belong to."""
    index = np.unique(np.searchsorted(s.offsets, np.flatnonzero(frames), side="right") - 1)
    return tuple(s.sequence_ids[index].tolist())


def _find_duplicates(s: SequenceSet) -> tuple[Duplicate, ...]:
    groups: dict[bytes, list[int]] = {}
    for index, sequence in enumerate(s):
        digest = hashlib.blake2b(np.ascontiguousarray(sequence).tobytes(), digest_size=16).digest()
        groups.setdefault(digest, []).append(index)
    return tuple(
        Duplicate(
            ids=tuple(s.sequence_ids[members].tolist()),
            across_splits={"train", "test"} <= set(s.split[members].tolist()),
            labels_differ=len(set(s.labels[members].tolist())) > 1,
        )
        for members in groups.values()
        if len(members) > 1
    )


def _layout(s: SequenceSet) -> str:
    how = " (guessed)" if s.guessed else ""
    if s.layout:
        return f"layout {s.layout}{how}"
    return "joints of its own names" if s.joint_names else "joints without names"


def _joints_of(s: SequenceSet) -> dict[str, tuple[float, ...]]:
    names = s.joint_names or tuple(f"joint {i}" for i in range(s.joints.shape[1]))
    if not len(s):
        return {}
    return {name: tuple(map(float, place)) for name, place in zip(names, s.joints[0], strict=True)}


def _frame(joints: Mapping[str, tuple[float, ...]], most: int | None) -> str:
    shown = list(joints.items())[:most]
    places = (f"{name} ({', '.join(f'{value:.4g}' for value in place)})" for name, place in shown)
    return ", ".join(text.replace(" ", _NO_BREAK) for text in places) + _more(len(joints), most) or "none"


def _counts(counts: Mapping[str, int], most: int | None = None) -> str:
    # The no-break space keeps a name and its count on one line.
    shown = [f"{name} ({count})".replace(" ", _NO_BREAK) for name, count in list(counts.items())[:most]]
    return ", ".join(shown) + _more(len(counts), most)


def _more(count: int, most: int | None) -> str:
    return "" if most is None or count <= most else f" and {count - most:,} more"


def _range(counts: Mapping[str, int], most: int | None) -> str:
    """Of classes that are not all shown, how large they are."""
    if most is None or len(counts) <= most:
        return ""
    fewest, largest = min(counts.values()), max(counts.values())
    each = f"{fewest:,} each" if fewest == largest else f"{fewest:,} to {largest:,} each"
    return f" (--all shows them); {each}"


def _unusable_of(s: SequenceSet) -> dict[str, str]:
    lost = lost_joints(s.joints, s.offsets, s.edges)
    names = s.joint_names or tuple(f"joint {i}" for i in range(s.joints.shape[1]))
    first = lost.argmax(axis=1)
    return {str(s.sequence_ids[i]): names[first[i]] for i in np.flatnonzero(lost.any(axis=1))}


def _unusable(found: Mapping[str, str], most: int | None) -> str:
    if not found:
        return "none"
    shown = ", ".join(f"{name} ({joint})" for name, joint in list(found.items())[:most])
    what = "1 sequence never shows" if len(found) == 1 else f"{len(found):,} sequences never show"
    return f"{what} some joint: {shown}{_more(len(found), most)}; --drop unusable leaves them out"


def _fault(count: int, what: str, ids: tuple[str, ...], most: int | None) -> str:
    if not count:
        return "none"
    shown = ", ".join(ids[:most]) + _more(len(ids), most)
    return f"{count:,} {what} in {len(ids)} sequences: {shown}"
