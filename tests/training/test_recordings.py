"""A finished run reads data as its training did, and knows what it never saw."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.nets import NetConfig
from bandstop.record.folder import read_metrics
from bandstop.skeleton import SequenceSet, write_archive
from bandstop.training.calibrate import recordings_to_calibrate
from bandstop.training.config import RunConfig
from bandstop.training.model_file import Recogniser, load_recogniser
from bandstop.training.recordings import recordings_for
from bandstop.training.run import train_run

SMALL = RunConfig(
    rate=0.8, epochs=1, chunks=8, net=NetConfig(kind="gcn", heads=2, filters=4), drop="unusable"
)


def damaged(tiny: SequenceSet) -> SequenceSet:
    """With a joint lost in each tenth sequence, and the last joint that nobody ever saw."""
    joints = tiny.joints.copy()
    for i in range(0, 90, 10):
        joints[tiny.offsets[i] : tiny.offsets[i + 1], 1] = 0
    joints[:, 4] = 0
    return replace(tiny, joints=joints, sequence_ids=np.arange(90))


@pytest.fixture(scope="module")
def run(tiny: SequenceSet, tmp_path_factory: pytest.TempPathFactory) -> Recogniser:
    at = tmp_path_factory.mktemp("recordings")
    write_archive(damaged(tiny), at / "damaged.npz")
    said: list[tuple[str, ...]] = []
    config = replace(SMALL, data=str(at / "damaged.npz"), validation=0.3)
    train_run(config, at / "run", say_dropped=lambda names: said.append(tuple(names)))
    assert len(said[0]) == 9
    return load_recogniser(at / "run")


def test_what_training_left_out_is_left_out_again_before_the_split(run: Recogniser) -> None:
    said: list[int] = []
    source, dropped = recordings_for(run, say=lambda names: said.append(len(names)))
    assert (len(source), len(dropped), said) == (81, 9, [9])
    judged = sum(map(sum, read_metrics(Path(run.config.data).parent / "run").confusion))
    assert len(recordings_to_calibrate(run, None)) == judged > 0


def test_a_joint_is_exempt_only_if_training_never_saw_it(run: Recogniser, tiny: SequenceSet) -> None:
    assert run.never_seen is not None and run.never_seen.tolist() == [False] * 4 + [True]
    alone = damaged(tiny).subset([1])
    assert len(run.repaired(alone, hint="")) == 1
    lost = replace(alone, joints=alone.joints * (np.arange(5) != 1)[:, None])
    assert lost.repaired() is lost  # zero in every sequence at hand
    with pytest.raises(DataError, match=r"joint 1 has no usable frame .*; leave it out"):
        run.repaired(lost, hint="leave it out")
    assert replace(run, pose=()).never_seen is None
    assert replace(run, class_names=("a", "b", "none")).never_seen is None


def test_two_coordinates_are_refused_where_training_had_three(run: Recogniser, tiny: SequenceSet) -> None:
    assert run.flat is False
    flat = replace(tiny, joints=tiny.joints * np.array([1, 1, 0], np.float32))
    with pytest.raises(DataError, match="x: the model was trained on joints of three coordinates, found two"):
        run.in_its_order(flat, where="x")
    plane = replace(run, pose=tuple((x, y, 0.0) for x, y, _ in run.pose))
    assert plane.flat and len(plane.in_its_order(flat)) == 90
    with pytest.raises(DataError, match="trained on joints of two coordinates, found three in 0"):
        plane.in_its_order(tiny)


def test_a_run_without_drop_refuses_and_names_a_way_that_its_verb_has(
    run: Recogniser, tiny: SequenceSet
) -> None:
    strict = replace(run, config=replace(run.config, drop=None))
    with pytest.raises(DataError, match=r"`bandstop convert DATA .* --drop unusable` writes"):
        recordings_for(strict)


def test_what_is_left_is_refused_with_what_was_left_out(tiny: SequenceSet, tmp_path: Path) -> None:
    joints = tiny.joints.copy()
    joints[np.repeat(tiny.labels == 2, tiny.lengths), 1] = np.nan
    said: list[int] = []
    with pytest.raises(DataError, match=r"have none: up \(left out 30 sequences .* and 27 more\)"):
        train_run(
            SMALL,
            tmp_path / "run",
            sequences=replace(tiny, joints=joints),
            say_dropped=lambda names: said.append(len(names)),
        )
    assert said == [30]
