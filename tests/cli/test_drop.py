"""Recordings that cannot be used: refused with the flag's name, left out and named with it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bandstop.record.folder import read_metrics
from bandstop.training.resume import stored_config
from tests.cli.small import QUIET, SMALL

Say = Callable[..., Any]


@pytest.fixture(scope="session")
def damaged(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recordings, and beside them twelve in which a joint was never seen."""
    root = tmp_path_factory.mktemp("damaged") / "set"
    shutil.copytree(folder, root)
    for number in range(12):
        frames = np.load(root / "line" / "0.npy")
        frames[:, 2] = np.nan
        np.save(root / "line" / f"bad{number:02}.npy", frames)
    return root


def test_training_leaves_them_out_and_records_it(say: Say, damaged: Path, tmp_path: Path) -> None:
    words = ["train", damaged, "--rate", 0.9, "--epochs", 1, *SMALL, *QUIET]
    refused = say(*words, "--out", tmp_path / "no")
    assert refused.code == 2 and "--drop unusable" in refused.err
    said = say(*words, "--drop", "unusable", "--out", tmp_path / "run")
    assert said.code == 0, said.err
    assert "left out 12 sequences that cannot be used: " in said.err and "and 2 more" in said.err
    assert len(read_metrics(tmp_path / "run").dropped) == 12
    assert stored_config(tmp_path / "run").drop == "unusable"


def test_convert_and_evaluate_leave_them_out(say: Say, damaged: Path, finished: Path, tmp_path: Path) -> None:
    said = say("convert", damaged, tmp_path / "a.npz", "--drop", "unusable")
    assert "36 sequences" in said.out and "left out 12 sequences" in said.err
    said = say("evaluate", finished, damaged, "--split", "all", "--drop", "unusable")
    assert said.code == 0 and "left out 12 sequences" in said.err
    refused = say("evaluate", finished, damaged)
    assert refused.code == 2 and "--drop unusable" in refused.err


def test_a_run_remembers_to_leave_them_out(say: Say, damaged: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ["train", damaged, "--rate", 0.9, "--epochs", 1, *SMALL, "--quiet", "--drop", "unusable"]
    assert say(*words, "--out", run).code == 0
    assert "left out 12 sequences" in (run / "report.html").read_text()
    exported = say("export", run, "--to", "bytes")
    assert exported.code == 0 and "left out 12 sequences" in exported.err
    judged = say("evaluate", run, damaged)
    assert judged.code == 0 and "left out 12 sequences" in judged.err
    refused = say("predict", run, damaged / "line" / "bad00.npy")
    assert refused.code == 2 and "leave this file out" in refused.err and "--drop" not in refused.err


def test_a_joint_that_training_saw_is_missed_in_a_file(
    say: Say, folder: Path, finished: Path, tmp_path: Path
) -> None:
    frames = np.load(folder / "line" / "0.npy")
    frames[:, 2] = 0
    np.save(tmp_path / "lost.npy", frames)
    refused = say("predict", finished, tmp_path / "lost.npy")
    assert refused.code == 2 and "joint 2 has no usable frame" in refused.err
    np.save(tmp_path / "flat.npy", frames[:, :, :2])
    refused = say("predict", finished, tmp_path / "flat.npy")
    assert refused.code == 2 and "trained on joints of three coordinates, found two" in refused.err


def test_evaluate_reads_as_training_did(say: Say, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for name in ("a", "b"):
        (tmp_path / "set" / name).mkdir(parents=True)
        for i in range(6):
            rows = random.normal(size=(20, 15))  # five joints: no known layout
            np.savetxt(tmp_path / "set" / name / f"{i}.csv", rows, "%.4f", ",")
    run, data = tmp_path / "run", tmp_path / "set"
    words = ["train", data, "--columns", "xyz", "--rate", 0.5, "--epochs", 1, *SMALL, *QUIET]
    assert say(*words, "--out", run).code == 0
    judged = say("evaluate", run, data, "--split", "all")
    assert judged.code == 0, judged.err
    say("convert", data, tmp_path / "set.npz", "--columns", "xyz")
    judged = say("evaluate", run, tmp_path / "set.npz", "--split", "all")  # which says itself what it is
    assert judged.code == 0, judged.err


def test_a_study_leaves_them_out(say: Say, damaged: Path, tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "study"
    base = f"[data]\ntiny = '{damaged}'\n[base]\nepochs = 1\n"
    plan.write_text(base + '[[grid]]\ndata = "tiny"\nrate = 0.9\n')
    words = ["study", plan, "--out", out, "--workers", 1, "--drop", "unusable"]
    said = say(*words)
    assert said.code == 0, said.out + said.err
    assert len(read_metrics(next((out / "runs").iterdir())).dropped) == 12
    named = "tiny: left out 12 sequences that cannot be used: line/bad00.npy, "
    assert said.err.count(named) == said.out.count(named) == 1 and "and 2 more" in said.out
    said = say(*words, "--quiet")
    assert said.out.count(named) == 1 and named not in said.err
