"""Which sequences train and which judge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError
from bandstop.skeleton.sequences import SequenceSet

__all__ = ["hold_out", "train_and_test"]

Mask = NDArray[np.bool_]


def hold_out(
    labels: NDArray[np.int64], subjects: NDArray[np.str_], share: float, seed: int, *, by_subject: bool
) -> Mask:
    """Mask of about ``share`` of the sequences: whole subjects, or a random part of every class.

    >>> labels, nobody = np.repeat([0, 1], 10), np.full(20, "")
    >>> held = hold_out(labels, nobody, 0.2, seed=0, by_subject=False)
    >>> held[labels == 0].sum(), held[labels == 1].sum()
    (np.int64(2), np.int64(2))
    """
    random = np.random.default_rng([seed, 7919])
    if by_subject:
        names = np.unique(subjects)
        chosen = random.permutation(names)[: max(1, round(share * len(names)))]
        return np.isin(subjects, chosen)
    held = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        members = random.permutation(np.flatnonzero(labels == label))
        held[members[: round(share * len(members))]] = True
    return held


def train_and_test(s: SequenceSet, *, validation: float = 0.0, seed: int = 0) -> tuple[Mask, Mask, str]:
    """Masks of the training and judging sequences, and what the judging part is called.

    The data's own split is used; data without one is split by subject (30 % of them), or else 30 % of every
    class. ``validation`` > 0 leaves the test part alone and judges on that share of the training part, by
    subject where train and test subjects are disjoint too.
    """
    train, test = s.split == "train", s.split == "test"
    named = bool((s.subjects != "").all()) and len(np.unique(s.subjects)) >= 3
    if not train.any() and test.any():
        train = ~test
    if not train.any():
        test = hold_out(s.labels, s.subjects, 0.3, seed=0, by_subject=named)
        train = ~test
        name = "test (30 % of the subjects)" if named else "test (30 % of every class)"
    else:
        name = "test"
    if validation > 0:
        apart = named and not set(s.subjects[train]) & set(s.subjects[test])
        apart = apart and len(np.unique(s.subjects[train])) >= 3
        part = np.flatnonzero(train)
        held = part[hold_out(s.labels[part], s.subjects[part], validation, seed, by_subject=apart)]
        train, test = train.copy(), np.zeros_like(train)
        train[held], test[held], name = False, True, "validation"
    if not train.any() or not test.any():
        raise DataError(
            f"both a training and a {name.split()[0]} part are needed, found {train.sum()} and {test.sum()}"
            " sequences; mark sequences as train and test, or bring more of them"
        )
    if missing := sorted(set(range(len(s.class_names))) - set(s.labels[train].tolist())):
        absent = ", ".join(s.class_names[i] for i in missing[:5])
        raise DataError(f"every class needs a training sequence, but these have none: {absent}")
    return train, test, name
