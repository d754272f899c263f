"""Runs whose signals hold motion."""

import dataclasses
from pathlib import Path

import pytest
import torch

from bandstop.errors import ConfigError
from bandstop.method.budget import Budget
from bandstop.nets import NetConfig
from bandstop.skeleton import SequenceSet
from bandstop.skeleton.augment import Augmentation
from bandstop.skeleton.split import train_and_test
from bandstop.training.config import DistillConfig, OptimConfig, RunConfig
from bandstop.training.data import prepare
from bandstop.training.extract import extract_run
from bandstop.training.model_file import load_recogniser
from bandstop.training.run import train_run

SMALL = RunConfig(
    epochs=6,
    chunks=8,
    rate=0.9,
    signal="motion",
    net=NetConfig(kind="gcn", channels=4, heads=2, filters=6),
    optim=OptimConfig(batch=27),
)


def test_a_saved_recogniser_sees_what_training_judged(tiny: SequenceSet, tmp_path: Path) -> None:
    metrics = train_run(SMALL, tmp_path / "run", sequences=tiny)
    recogniser = load_recogniser(tmp_path / "run")
    data = prepare(tiny, chunks=8, signal="motion")
    assert data.judge_signals.shape[2] == recogniser.normaliser.values == 46
    _, test, _ = train_and_test(tiny)
    assert torch.allclose(
        recogniser.signals([tiny[int(i)] for i in test.nonzero()[0]]), data.judge_signals, atol=1e-5
    )
    assert metrics.weights_kept == round(0.1 * metrics.weights_total)


def test_durations_vary_about_the_true_ones_whatever_the_crop(tiny: SequenceSet) -> None:
    data = prepare(tiny, chunks=8, signal="motion")
    mean, deviation = data.normaliser.duration or (0.0, 1.0)
    true = ((data.table.lengths.double().log() - mean) / deviation).float().sort().values
    exact, _ = data.epoch(Augmentation(crop=0.3, pace=0.0), torch.Generator().manual_seed(0))
    assert torch.allclose(exact[:, 0, -1].sort().values, true, atol=1e-5)
    drawn = [data.epoch(SMALL.augment, torch.Generator().manual_seed(s))[0][:, 2, -1] for s in range(20)]
    spread = torch.stack([d.mean() - true.mean() for d in drawn])
    assert spread.abs().max() > 1e-3 and spread.mean().abs() < 0.12 / deviation / 5


def test_many_rates_and_teachers(tiny: SequenceSet, tmp_path: Path) -> None:
    many = dataclasses.replace(SMALL, rate=None, rates="0.5:0.95")
    train_run(many, tmp_path / "many", sequences=tiny)
    found = extract_run(tmp_path / "many", Budget.rate(0.8), tmp_path / "one", sequences=tiny)
    assert found.weights_kept == round(0.2 * found.weights_total)
    train_run(dataclasses.replace(SMALL, rate=None), tmp_path / "dense", sequences=tiny)
    distil = DistillConfig(teachers=(str(tmp_path / "dense"),))
    train_run(dataclasses.replace(SMALL, distill=distil), tmp_path / "taught", sequences=tiny)
    with pytest.raises(ConfigError, match="trained with --signal motion"):
        train_run(
            dataclasses.replace(SMALL, distill=distil, signal="places"), tmp_path / "other", sequences=tiny
        )


def test_an_lstm_is_refused() -> None:
    with pytest.raises(ConfigError, match="--signal motion is not for an LSTM"):
        RunConfig(signal="motion", net=NetConfig(kind="lstm"))
