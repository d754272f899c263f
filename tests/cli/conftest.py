"""A tiny set of recordings in the newcomer's format, and one run trained on it for all tests of the verbs."""

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from bandstop.cli import main


class Said(NamedTuple):
    """What a verb answered."""

    code: int
    out: str
    err: str


def call(*words: object) -> Said:
    """A verb in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(word) for word in words])
        except SystemExit as stopped:
            code = int(stopped.code or 0)
    return Said(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def say() -> Callable[..., Said]:
    return call


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder per class."""
    root, random = tmp_path_factory.mktemp("gestures"), np.random.default_rng(0)
    for label, name in enumerate(("circle", "line", "rest")):
        (root / name).mkdir()
        for i in range(12):
            t = np.linspace(0, 6, 20 + i)[:, None]
            x = (
                np.stack([np.cos(t) * (label == 0), t * (label == 1), 0 * t], -1) * 10
                + np.arange(4)[None, :, None] * 5
            )
            np.save(root / name / f"{i}.npy", (x + random.normal(0, 0.3, x.shape)).astype(np.float32))
    return root


@pytest.fixture(scope="session")
def trained(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Said]:
    """A finished run, and what `train` said."""
    out = tmp_path_factory.mktemp("runs") / "mine"
    said = call("train", folder, "--rate", 0.9, "--epochs", 30, "--chunks", 16, "--out", out)
    assert said.code == 0, said.err
    return out, said


@pytest.fixture(scope="session")
def finished(trained: tuple[Path, Said]) -> Path:
    return trained[0]
