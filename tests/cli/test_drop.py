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
