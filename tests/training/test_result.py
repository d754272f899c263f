"""What a run leaves for others: a public recogniser, named mistakes, a curve of the validation part."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

import bandstop
from bandstop.errors import DataError
from bandstop.nets import NetConfig
from bandstop.skeleton import SequenceSet
from bandstop.training.config import OptimConfig, RunConfig
from bandstop.training.run import train_run

SMALL = RunConfig(
    epochs=2,
    chunks=8,
    rate=0.9,
    net=NetConfig(kind="gcn", channels=4, heads=2, filters=6),
    optim=OptimConfig(batch=27),
)


def test_the_public_recogniser_makes_the_mistakes_of_the_run(tiny: SequenceSet, tmp_path: Path) -> None:
    metrics = train_run(SMALL, tmp_path, sequences=tiny)
    recogniser = bandstop.load_recogniser(tmp_path)
    assert isinstance(recogniser, bandstop.Recogniser)
    assert recogniser.scores([tiny[0]]).shape == (1, 3)
    flat = tiny[0] * np.array([1, 1, 0], np.float32)
    assert torch.equal(recogniser.scores([flat[:, :, :2]]), recogniser.scores([flat]))
    with pytest.raises(DataError, match=r"sequence 1 must have shape \[frames, 5, 3\] as in training"):
        recogniser.scores([flat, flat[:, :, :1]])
    judged, names = tiny.subset(tiny.split == "test"), tiny.class_names
    found = recogniser.scores(list(judged)).argmax(1).tolist()
    wrong = {mistake.recording: (mistake.truth, mistake.found) for mistake in metrics.mistakes}
    assert wrong == {
        str(name): (names[label], names[taken])
        for name, label, taken in zip(judged.sequence_ids, judged.labels, found, strict=True)
        if label != taken
    }


def test_a_validation_part_is_judged_on_the_way(tiny: SequenceSet, tmp_path: Path) -> None:
    config = dataclasses.replace(SMALL, epochs=4, validation=0.3)
    metrics = train_run(config, tmp_path / "a", sequences=tiny)
    rows = [json.loads(line) for line in (tmp_path / "a" / "log.jsonl").read_text().splitlines()]
    assert all(0 <= row["validation_accuracy"] <= 100 for row in rows)
    assert rows[-1]["validation_accuracy"] == pytest.approx(metrics.accuracy, abs=0.01)
    train_run(dataclasses.replace(config, validation=0.0), tmp_path / "b", sequences=tiny)
    first = json.loads((tmp_path / "b" / "log.jsonl").read_text().splitlines()[0])
    assert first["validation_accuracy"] is None
