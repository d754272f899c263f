"""The real sets, where they are at hand beside the repository: sizes, folds and splits as published."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.skeleton import describe, load

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def at_hand(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not (DATA / name).is_dir(), reason=f"{name} is not at hand")


@at_hand("sbu")
def test_sbu() -> None:
    s = load(f"sbu:{DATA / 'sbu'}@5")
    d = describe(s)
    assert (d.sequences, len(d.classes), len(d.subjects)) == (282, 8, 21)
    assert (d.lengths[0], d.lengths[2], d.nonfinite_values, d.zero_frames) == (10, 46, 0, 0)
    assert set(s.subjects[s.split == "test"].tolist()) == {"s04s02", "s04s03", "s04s06", "s06s02", "s06s03"}
    assert sum(d.folds.values()) == 282
    # Un-normalised, a body stays rigid: head to neck varies little over a sequence.
    neck = np.linalg.norm(s.joints[:, 0] - s.joints[:, 1], axis=1)
    assert neck.std() / neck.mean() < 0.3


@at_hand("utd_mhad")
def test_utd_mhad() -> None:
    d = describe(load(f"utd-mhad:{DATA / 'utd_mhad'}"))
    assert (d.sequences, len(d.classes), len(d.subjects)) == (861, 27, 8)
    assert (d.splits, d.duplicates) == ({"train": 431, "test": 430}, ())
    assert min(d.classes.values()) >= 31
