"""Streams of data that a user says how to read, and of which some cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.live import load_live_data
from bandstop.live.joined import join_sequences
from bandstop.record.reading import Reading
from bandstop.skeleton import SequenceSet


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Nine joints in files without a header; in two recordings the last one was never seen."""
    random = np.random.default_rng(0)
    for name in ("nod", "wave"):
        (tmp_path / "set" / name).mkdir(parents=True)
        for i in range(8):
            rows = random.normal(size=(20, 27))
            if i == 0:
                rows[:, 24:] = 0
            np.savetxt(tmp_path / "set" / name / f"{i}.csv", rows, "%.4f", ",")
    (tmp_path / "bones.csv").write_text("".join(f"{i},{i + 1}\n" for i in range(8)))
    return tmp_path / "set"


def test_reading_and_drop_are_honoured(data: Path) -> None:
    reading = Reading(columns="xyz", edges=str(data.parent / "bones.csv"))
    with pytest.raises(DataError, match=r"nod/0\.csv: joint 8 has no usable frame .*--drop unusable"):
        load_live_data(str(data), reading=reading)
    said: list[tuple[str, ...]] = []
    made = load_live_data(str(data), reading=reading, drop="unusable", say=said.append)
    assert said == [("nod/0.csv", "wave/0.csv")] == [made.dropped]
    assert made.edges.tolist() == [[i, i + 1] for i in range(8)]
    assert sum(len(s.gestures) for s in made.validation) == 4


@pytest.mark.parametrize("name", ["columns", "edges", "layout"])
def test_streams_say_themselves_what_they_are(name: str) -> None:
    with pytest.raises(DataError, match=f"hands: --{name} is for data of cut-out recordings"):
        load_live_data("hands", reading=Reading(**{name: "x"}))


def test_recordings_of_two_coordinates_make_streams_of_two() -> None:
    flat = np.random.default_rng(0).normal(size=(20, 4, 2))
    s = SequenceSet.from_sequences([flat, flat], labels=[0, 1], class_names=["nod", "wave"])
    stream = join_sequences(s)[0].joints
    assert stream[:, :, :2].any() and not stream[:, :, 2].any()
