"""A finished run learns to say none of these, on recordings that it has not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bandstop.errors import ConfigError, DataError
from bandstop.nets import NetConfig
from bandstop.skeleton import SequenceSet, write_archive
from bandstop.training.calibrate import choose_rejection, recordings_to_calibrate
from bandstop.training.config import RunConfig
from bandstop.training.model_file import load_recogniser, save_recogniser
from bandstop.training.run import train_run


@pytest.fixture(scope="module")
def run(tiny: SequenceSet, tmp_path_factory):
    """Trained on two of the three motions; the third is none of these."""
    at = tmp_path_factory.mktemp("calibrate")
    two = tiny.subset(tiny.labels != 2)
    known = replace(two, class_names=("down", "still"))
    write_archive(known, at / "known.npz")
    config = RunConfig(
        data=str(at / "known.npz"),
        rate=0.8,
        epochs=30,
        chunks=8,
        validation=0.4,
        net=NetConfig(kind="gcn", heads=2, filters=4),
    )
    train_run(config, at / "run")
    return at


def test_unknown_motions_are_rejected_and_known_ones_named(run, tiny):
    found = load_recogniser(run / "run")
    rule = choose_rejection(found, tiny, "3%")
    assert (
        rule.met
        and rule.recordings == 90
        and rule.minutes == pytest.approx(tiny.lengths.sum() / 1800, abs=1e-3)
    )
    found = replace(found, rejection=rule)
    answers = found.answers([tiny[i] for i in range(len(tiny))])
    wrong = sum(a.label >= 0 and a.label != label for a, label in zip(answers, tiny.labels, strict=True))
    right = sum(a.label == label for a, label in zip(answers, tiny.labels, strict=True))
    assert (rule.threshold, wrong, right) in rule.curve
    assert wrong <= 2 and right >= 30
    loose = choose_rejection(found, tiny, "90%")
    assert loose.threshold <= rule.threshold


def test_the_rule_is_stored_with_the_model(run, tiny, tmp_path):
    found = load_recogniser(run / "run")
    assert found.rejection is None
    with pytest.raises(ConfigError, match="no threshold yet: choose one with `bandstop calibrate`"):
        found.answers([tiny[0]])
    rule = choose_rejection(found, tiny, "3%")
    save_recogniser(replace(found, rejection=rule), tmp_path / "model.safetensors")
    assert load_recogniser(tmp_path / "model.safetensors").rejection == rule


def test_the_held_out_part_is_taken_where_no_data_is_named(run):
    found = load_recogniser(run / "run")
    held = recordings_to_calibrate(found, None)
    assert 0 < len(held) < 36
    with pytest.raises(ConfigError, match="is what the run was trained on"):
        recordings_to_calibrate(found, found.config.data)
    without = replace(found, config=replace(found.config, validation=0.0))
    with pytest.raises(ConfigError, match="neither trained nor judged on"):
        recordings_to_calibrate(without, None)


def test_too_few_recordings_are_refused(run, tiny):
    found = load_recogniser(run / "run")
    with pytest.raises(DataError, match="at least 20 recordings, some of them of the run's classes; found 5"):
        choose_rejection(found, tiny.subset(np.arange(90) < 5), "1/min")
    with pytest.raises(DataError, match="found 30 and 0"):
        choose_rejection(found, tiny.subset(tiny.labels == 2), "1/min")
