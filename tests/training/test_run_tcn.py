"""Runs of convolutions over time on composed signals."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from bandstop.errors import ConfigError
from bandstop.nets import NetConfig
from bandstop.nets.tcn import TCN
from bandstop.training.config import RunConfig
from bandstop.training.model_file import load_recogniser
from bandstop.training.run import train_run

SMALL = RunConfig(
    rate=0.8,
    epochs=2,
    chunks=8,
    signal="places+steps+distances+duration",
    net=NetConfig(kind="tcn", widths=(6, 8), kernels=(1, 3), strides=(1, 2)),
)


def test_a_run_is_trained_to_its_budget_and_read_back(tiny, tmp_path) -> None:
    found = train_run(SMALL, tmp_path / "run", sequences=tiny)
    assert found.weights_kept == round(0.2 * found.weights_total)
    recogniser = load_recogniser(tmp_path / "run")
    assert isinstance(recogniser.net, TCN)
    assert [part.name for part in recogniser.normaliser.parts] == SMALL.signal.split("+")
    raw = [tiny[i] for i in range(3)]
    assert torch.isfinite(recogniser.scores(raw)).all()


def test_a_moment_costs_one_channel(tiny, tmp_path) -> None:
    config = dataclasses.replace(SMALL, epochs=1, signal=f"{SMALL.signal}+moment")
    found = [
        train_run(asked, tmp_path / name, sequences=tiny).weights_total
        for name, asked in (("without", dataclasses.replace(SMALL, epochs=1)), ("with", config))
    ]
    assert found[1] - found[0] == SMALL.net.widths[0]
    assert torch.isfinite(load_recogniser(tmp_path / "with").scores([tiny[0]])).all()


def test_gains_stay_fixed_where_a_normalisation_follows() -> None:
    assert SMALL.resolved().prune.gain == "fixed"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"signal": "motion"}, "write --signal places\\+steps\\+distances\\+duration"),
        ({"net": NetConfig(kind="lstm")}, "is not for an LSTM"),
        ({"signal": "places+speed"}, "has no part 'speed'"),
    ],
)
def test_what_does_not_go_together_is_refused(change, message) -> None:
    with pytest.raises(ConfigError, match=message):
        dataclasses.replace(SMALL, **change)


def test_the_rival_that_makes_nets_smaller_makes_convolutions_narrower(tiny, tmp_path) -> None:
    found = train_run(dataclasses.replace(SMALL, method="small-dense"), tmp_path / "run", sequences=tiny)
    whole = train_run(SMALL, tmp_path / "pruned", sequences=tiny)
    assert found.weights_kept == found.weights_total <= 0.2 * whole.weights_total
    narrow = load_recogniser(tmp_path / "run").config.net.widths
    assert all(1 <= width < given for width, given in zip(narrow, SMALL.net.widths, strict=True))
