"""One order of joints from training to the device: MediaPipe's frames are read as MediaPipe gives them."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bandstop.cli import main
from bandstop.record.folder import MODEL
from bandstop.skeleton import SequenceSet, make_hands
from bandstop.skeleton.layouts import HAND, MEDIAPIPE_HAND
from bandstop.training.model_file import load_recogniser, save_recogniser

ACTIONS = ("grasp", "pour", "wave")


def run(*words: str) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main(list(words)) == 0
    return said.getvalue()


@pytest.fixture(scope="module")
def hands() -> SequenceSet:
    """Three actions as MediaPipe gives them."""
    s = make_hands(train_people=4, test_people=2, repetitions=2)
    chosen = [s.class_names.index(name) for name in ACTIONS]
    return s.subset(np.isin(s.labels, chosen)).reordered(MEDIAPIPE_HAND.joint_names)


@pytest.fixture(scope="module")
def recordings(hands: SequenceSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CSV files in class folders: a header that names no joints."""
    root = tmp_path_factory.mktemp("recordings")
    header = ",".join(f"{axis}{i}" for i in range(21) for axis in "xyz")
    for i, frames in enumerate(hands):
        folder = root / hands.split[i] / hands.class_names[hands.labels[i]]
        folder.mkdir(parents=True, exist_ok=True)
        rows = frames.reshape(len(frames), 63)
        np.savetxt(folder / f"{i:03d}.csv", rows, "%.3f", ",", header=header, comments="")
    return root


@pytest.fixture(scope="module")
def trained(recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "theirs"
    flags = "--rate 0.9 --epochs 30 --chunks 16 --quiet --no-report"
    run("train", f"mediapipe:{recordings}", *flags.split(), "--out", str(out))
    return out


def accuracy(words: str) -> float:
    return json.loads(words)["accuracy"]


def test_the_model_keeps_the_order_of_its_data(trained: Path) -> None:
    assert load_recogniser(trained).joint_names == MEDIAPIPE_HAND.joint_names


def test_the_same_recordings_judge_the_same_however_they_are_named(trained: Path, recordings: Path) -> None:
    found = [
        accuracy(run("evaluate", str(trained), data)) for data in (f"mediapipe:{recordings}", str(recordings))
    ]
    assert found[0] == found[1] == json.loads((trained / "metrics.json").read_text())["accuracy"]


def test_files_are_named_as_their_folder_is_judged(trained: Path, recordings: Path, tmp_path: Path) -> None:
    files = sorted((recordings / "test").rglob("*.csv"))
    said = run("predict", str(trained), *map(str, files), "--json").splitlines()
    as_csv = [json.loads(line)["classes"][0]["name"] for line in said]
    documents = []
    for i, file in enumerate(files):
        frames = np.loadtxt(file, delimiter=",", skiprows=1).reshape(-1, 21, 3)
        documents.append(tmp_path / f"{i}.json")
        documents[-1].write_text(json.dumps([{"hand_landmarks": [frame.tolist()]} for frame in frames]))
    said = run("predict", str(trained), *map(str, documents), "--json").splitlines()
    assert [json.loads(line)["classes"][0]["name"] for line in said] == as_csv
    right = np.mean([name == file.parent.name for name, file in zip(as_csv, files, strict=True)])
    assert round(100 * right, 3) == json.loads((trained / "metrics.json").read_text())["accuracy"]


def test_the_exported_program_takes_frames_in_that_order(
    trained: Path, recordings: Path, tmp_path: Path
) -> None:
    said = run("export", str(trained), "--to", "c", "--data", str(recordings), "--out", str(tmp_path))
    assert "the same class for 100.00 % of" in said
    assert "raw frames" in said
    header = (tmp_path / "recogniser.h").read_text()
    names = [header.index(f"{i} {name}") for i, name in enumerate(MEDIAPIPE_HAND.joint_names)]
    assert names == sorted(names)


def test_a_run_of_the_order_before_reads_the_same_recordings(
    trained: Path, recordings: Path, tmp_path: Path
) -> None:
    """Runs used to store our order for MediaPipe's data: they stay readable and are given that order."""
    found = load_recogniser(trained)
    order = [MEDIAPIPE_HAND.joint_names.index(name) for name in HAND.joint_names]
    scale = tuple(found.normaliser.node_scale[i] for i in order)
    normaliser = replace(found.normaliser, edges=HAND.edges, root=HAND.root, node_scale=scale)
    old = replace(found, joint_names=HAND.joint_names, normaliser=normaliser)
    save_recogniser(old, tmp_path / MODEL)
    sequences = replace(make_hands(train_people=1, test_people=1, repetitions=1), sequence_ids=None)
    theirs = sequences.reordered(MEDIAPIPE_HAND.joint_names)
    again = load_recogniser(tmp_path)
    assert np.array_equal(again.in_its_order(theirs).joints, sequences.joints)
    assert 0 <= accuracy(run("evaluate", str(tmp_path / MODEL), str(recordings))) <= 100
