"""Calibrate, then predict and export say none of these."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Say = Callable[..., Any]


@pytest.fixture
def more(folder: Path, tmp_path: Path) -> Path:
    """Other recordings of the three classes, and of a fourth that the run does not know."""
    random = np.random.default_rng(1)
    for name in ("circle", "line", "rest"):
        for path in sorted((folder / name).iterdir()):
            joints = np.load(path)
            (tmp_path / "more" / name).mkdir(parents=True, exist_ok=True)
            noisy = joints + random.normal(0, 0.2, joints.shape)
            np.save(tmp_path / "more" / name / path.name, noisy.astype(np.float32))
    (tmp_path / "more" / "none").mkdir()
    for i in range(8):
        walk = np.cumsum(random.normal(0, 3, (30, 4, 3)), axis=0).astype(np.float32)
        np.save(tmp_path / "more" / "none" / f"{i}.npy", walk)
    return tmp_path / "more"


def test_the_whole_way(say: Say, finished: Path, more: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    before = json.loads(say("predict", run, more / "none" / "0.npy", "--json").out)
    assert "answer" not in before
    said = say("calibrate", run, "--data", more, "--false-alarms", "5%")
    assert said.code == 0 and "of 44 recordings" in said.out and "threshold" in said.out
    lines = say("predict", run, more, "--json").out.splitlines()
    answers = {Path(row["file"]): row["answer"] for row in map(json.loads, lines)}
    wrong = [path for path, name in answers.items() if name not in ("none", path.parent.name)]
    assert len(wrong) <= 2 and "none" in answers.values() and "line" in answers.values()
    none = next(path for path, name in answers.items() if name == "none")
    assert "none of these (" in say("predict", run, none).out
    strict = say("predict", run, more, "--json", "--false-alarms", "0.001%").out
    assert strict.count('"answer": "none"') >= list(answers.values()).count("none")
    exported = say("export", run, "--to", "c", "--for", "size", "--data", more, "--false-alarms", "5%")
    assert exported.code == 2  # the data to check on has a class that the run does not know
    exported = say("export", run, "--to", "c", "--for", "size", "--out", tmp_path / "c")
    assert exported.code == 0, exported.err
    assert "THRESHOLD" in (tmp_path / "c" / "recogniser.h").read_text()


def test_what_cannot_be_calibrated_is_said(say: Say, finished: Path, folder: Path) -> None:
    assert "neither trained nor judged on" in say("calibrate", finished).err
    assert "is what the run was trained on" in say("calibrate", finished, "--data", folder).err
    refused = say("predict", finished, folder / "line" / "0.npy", "--false-alarms", "1/min")
    assert refused.code == 2 and "choose one with `bandstop calibrate`" in refused.err
