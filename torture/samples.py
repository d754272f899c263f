"""A small data set and small runs of every kind, made once and shared by the cases."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

import numpy as np

from bandstop.skeleton import SequenceSet, write_archive
from torture.child import bandstop

__all__ = ["SMALL", "TRAININGS", "data_file", "run_folder", "small_set", "train_words", "warm_up"]

SMALL = "--quiet --chunks 8 --optim.batch 27 --checkpoint-seconds 0"
"""A training that takes a moment."""

NETS = {
    "lstm": "--net.kind lstm --net.hidden 6",
    "tcn": "--net.kind tcn --net.widths 6 8 --net.kernels 1 3 --net.strides 1 2",
}
"""Kind of training → its small network; the others have GCN."""

GCN = "--net.kind gcn --net.channels 4 --net.heads 2 --net.filters 6"

TRAININGS = {
    "pmp": "--rate 0.9 --epochs 4 --seed 1 --no-report",
    "with report": "--rate 0.9 --epochs 2",
    "motion": "--rate 0.9 --epochs 4 --signal motion --validation 0.25 --no-report",
    "many rates": "--rates 0.5:0.95 --epochs 4 --no-report",
    "lstm": "--rate 0.8 --epochs 4 --no-report",
    "tcn": "--rate 0.9 --epochs 4 --no-report",
    "paper": "--preset paper --rate 0.9 --epochs 4 --no-report",
    "held": "--preset held --rate 0.9 --epochs 4 --no-report",
    "bytes": "--bytes 1500 --epochs 4 --optim.average 0.9 --no-report",
    "dense": "--epochs 4 --no-report",
    "rival": "--method rigl --rate 0.9 --epochs 4 --no-report",
}
"""Kind of training → how it is asked for."""


def small_set(count: int = 60) -> SequenceSet:
    """Three motions of a chain of five joints."""
    random = np.random.default_rng(0)
    sequences = []
    for i in range(count):
        t, joints = np.linspace(0, 1, int(random.integers(10, 40)))[:, None], np.arange(5)[None] * 10.0
        turn, wave = (i % 3 - 1) * 15 * t * joints / 40, 5 * np.sin((i % 3 + 1) * 6 * t) + 0 * joints
        made = np.stack([joints + 0 * t, turn, wave], -1) + random.normal(0, 1.0, (len(t), 5, 3))
        sequences.append(made.astype(np.float32))
    return SequenceSet.from_sequences(
        sequences,
        labels=[i % 3 for i in range(count)],
        class_names=["down", "still", "up"],
        subjects=[f"s{i % 5}" for i in range(count)],
        split=["train" if i % 5 < 3 else "test" for i in range(count)],
        edges=[[0, 1], [1, 2], [2, 3], [3, 4]],
        joint_names=["a", "b", "c", "d", "e"],
        name="small",
    )


def data_file(shared: Path) -> Path:
    """The archive of the data set."""
    path = shared / "small.npz"
    if not path.is_file():
        write_archive(small_set(), path)
    return path


def train_words(kind: str, data: Path, out: Path) -> list[str]:
    """The command line of a training."""
    flags = f"{SMALL} {NETS.get(kind, GCN)} {TRAININGS[kind]}"
    return ["train", str(data), *flags.split(), "--out", str(out)]


def run_folder(kind: str, shared: Path) -> Path:
    """A finished run of a kind (one of `TRAININGS`, or live), trained when it is first asked for."""
    out, data = shared / "runs" / kind, data_file(shared)
    if (out / "metrics.json").is_file() and (kind != "live" or (out / "live.json").is_file()):
        return out
    live = ["live", str(data), *_without_checkpoints(), "--rate", "0.9", "--epochs", "2", "--out", str(out)]
    words = live if kind == "live" else train_words(kind, data, out)
    ended = bandstop([*words, *(["--resume"] if (out / "config.json").is_file() else [])], shared).wait()
    if ended.code:
        raise RuntimeError(f"the sample {kind} cannot be made: {ended.err[-1000:]}")
    return out


def _without_checkpoints() -> list[str]:
    words = SMALL.split()
    place = words.index("--checkpoint-seconds")
    return words[:place] + words[place + 2 :]


def warm_up() -> None:
    """Train a moment in this process: what torch and numba load or compile then, forked processes have."""
    from bandstop.cli import main

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        place = Path(folder)
        for kind in ("pmp", "many rates", "lstm", "paper"):
            words = [*train_words(kind, data_file(place), place / kind), "--epochs", "1"]
            if main(words):
                raise RuntimeError(f"the training {kind} fails")
