"""Runs that take size and orientation out of sequences, or leave them in."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from bandstop.errors import ConfigError
from bandstop.nets import NetConfig
from bandstop.training.config import RunConfig
from bandstop.training.data import prepare
from bandstop.training.model_file import load_recogniser
from bandstop.training.run import train_run

SMALL = RunConfig(
    rate=0.8,
    epochs=1,
    chunks=8,
    normalise="size+orientation",
    net=NetConfig(kind="tcn", widths=(6, 8), kernels=(1, 3), strides=(1, 2)),
)
TURN = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
TURN *= np.linalg.det(TURN)


def test_a_trained_run_does_not_mind_turned_and_scaled_recordings(tiny, tmp_path) -> None:
    train_run(SMALL, tmp_path / "run", sequences=tiny)
    recogniser = load_recogniser(tmp_path / "run")
    assert recogniser.normaliser.facing is not None and recogniser.normaliser.unit is None
    raw = [tiny[i] for i in range(4)]
    other = [np.asarray(3 * frames @ TURN.T + 5, np.float32) for frames in raw]
    assert torch.allclose(recogniser.scores(raw), recogniser.scores(other), atol=1e-3)


def test_without_either_both_matter(tiny, tmp_path) -> None:
    train_run(dataclasses.replace(SMALL, normalise="none"), tmp_path / "run", sequences=tiny)
    recogniser = load_recogniser(tmp_path / "run")
    assert recogniser.normaliser.facing is None and recogniser.normaliser.unit is not None
    raw = [tiny[i] for i in range(4)]
    for other in ([3 * frames for frames in raw], [np.asarray(f @ TURN.T, np.float32) for f in raw]):
        assert not torch.allclose(recogniser.signals(raw), recogniser.signals(other), atol=0.1)


@pytest.mark.parametrize("normalise", ["size", "orientation", "size+orientation", "none"])
def test_training_sees_frames_as_judging_sees_chunks(tiny, normalise) -> None:
    """Without augmentation the signals of training are those of the normaliser."""
    data = prepare(tiny, chunks=8, normalise=normalise)
    table, root = data.table, data.normaliser.root
    chunks = table.chunks(torch.arange(len(table)), 8)
    chunks[:, :, root] -= chunks[:, :, root].mean(dim=1, keepdim=True)
    train = data.source.subset(data.source.split == "train")
    from bandstop.skeleton.chunk import ChunkTable

    raw = ChunkTable(train)
    wanted = data.normaliser(raw.chunks(torch.arange(len(raw)), 8))
    assert torch.allclose(data.normaliser.signals(chunks), wanted, atol=1e-3)


def test_another_word_is_refused() -> None:
    with pytest.raises(ConfigError, match="normalise must be one of size, orientation"):
        RunConfig.from_json('{"rate": 0.8, "normalise": "shape"}')
