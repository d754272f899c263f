"""One-frame poses of `keypoint.csv`: trained, exported to C, compiled, and the same answers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bandstop.skeleton import load
from bandstop.training.model_file import load_recogniser

COMPILER = shutil.which("gcc") or shutil.which("clang")


@pytest.fixture
def poses(tmp_path: Path) -> Path:
    """An open and a closed hand in the plane, wrist first and scaled, as the tool writes them."""
    random, rows = np.random.default_rng(0), []
    reach = np.array([0.0, *(0.3 + 0.2 * step for _ in range(5) for step in range(4))])
    angle = np.array([0.0, *(0.4 * (finger - 2) for finger in range(5) for _ in range(4))])
    for number in range(80):
        label = number % 2
        bent = np.where(reach > 0.4, 0.45, reach) if label else reach
        hand = np.stack([bent * np.sin(angle), -bent * np.cos(angle)], axis=1)
        hand = hand + random.normal(0, 0.02, hand.shape)
        values = ((hand - hand[0]) / np.abs(hand - hand[0]).max()).ravel()
        rows.append(",".join([str(label), *map(str, values.tolist())]))
    folder = tmp_path / "keypoint_classifier"
    folder.mkdir()
    (folder / "keypoint.csv").write_text("\n".join(rows) + "\n")
    (folder / "keypoint_classifier_label.csv").write_text("Open\nClose\n")
    return folder


@pytest.mark.skipif(COMPILER is None, reason="no C compiler is installed")
def test_from_a_table_to_a_program(say: Callable[..., Any], poses: Path, tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "c"
    said = say(
        "train",
        poses,
        "--rate",
        0.9,
        "--epochs",
        60,
        "--chunks",
        4,
        "--net.kind",
        "gcn",
        "--out",
        run,
        "--quiet",
    )
    assert said.code == 0, said.err
    said = say("export", run, "--to", "c", "--out", out)
    assert said.code == 0, said.err
    build = [COMPILER, "-O2", "-I..", "main.c", "../recogniser.c", "-o", "main"]
    subprocess.run(build, cwd=out / "example", check=True)
    s, found = load(str(poses)), load_recogniser(run)
    assert s.class_names == ("Open", "Close") and s.lengths.max() == 1
    lines = ["1 " + " ".join(f"{v:.7g}" for v in s[i].ravel()) for i in range(len(s))]
    program = subprocess.run(
        [out / "example" / "main"], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    names = [line.split()[0] for line in program.stdout.splitlines()]
    labels = found.scores([s[i] for i in range(len(s))]).argmax(dim=1).tolist()
    assert names == [found.class_names[label] for label in labels]
    assert np.mean(np.array(labels) == s.labels) > 0.9
