"""Signals that hold motion: every export computes them from raw frames as training does."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from bandstop.deploy.model import DeployModel
from bandstop.deploy.onnx.file import onnx_runner, to_onnx
from bandstop.deploy.packed.file import from_bytes, to_bytes
from bandstop.deploy.run.native import Native
from bandstop.deploy.verify import agreement, reference_scores, signals_of
from bandstop.errors import ExportError
from bandstop.nets import NetConfig, build_net
from bandstop.skeleton.normalise import STEP
from tests.deploy.nets_for_tests import (
    CHUNKS,
    JOINTS,
    c_files,
    hand_edges,
    make_model,
    normaliser,
    prune,
    sequences,
    settle_norms,
)


def motion_model(rate: float = 0.96) -> DeployModel:
    plain = make_model(rate)
    moving = dataclasses.replace(normaliser(), duration=(4.2, 0.8))
    torch.manual_seed(1)
    net = build_net(
        NetConfig(kind="gcn"), joints=JOINTS, signal=moving.values, classes=45, edges=hand_edges()
    )
    settle_norms(net)
    prune(net, rate)
    return dataclasses.replace(plain, net=net.eval(), normaliser=moving)


MODEL = motion_model()


def test_signals_hold_places_steps_and_duration() -> None:
    found = torch.from_numpy(signals_of(MODEL, sequences()))
    places = torch.from_numpy(signals_of(make_model(0.96), sequences()))
    assert found.shape[1:] == MODEL.shape == (JOINTS, 6 * CHUNKS - 2)
    assert torch.equal(found[..., : 3 * CHUNKS], places)
    steps = places.reshape(-1, JOINTS, CHUNKS, 3).diff(dim=2).reshape(-1, JOINTS, 3 * CHUNKS - 3)
    assert torch.equal(found[..., 3 * CHUNKS : -1], STEP * steps)
    wanted = [(np.log(len(s)) - 4.2) / 0.8 for s in sequences()]
    assert torch.allclose(found[..., -1], torch.tensor(wanted, dtype=torch.float32)[:, None])


@pytest.mark.parametrize("aim", ["speed", "size"])
def test_c_answers_as_torch(aim) -> None:
    native = Native(c_files(MODEL, aim=aim), flags=("-O1", "-march=native"))
    wanted = reference_scores(MODEL, signals_of(MODEL, sequences()))
    for raw, scores in zip(sequences(), wanted, strict=True):
        answer, found, _ = native.stream(raw)
        assert answer == scores.argmax()
        assert np.abs(found - scores).max() < 1e-5


def test_classify_may_be_called_again_while_frames_come() -> None:
    native = Native(c_files(MODEL, aim="size", open_ended=True), open_ended=True)
    raw = sequences()[-1][:60]
    _, found, _ = native.stream(raw, length=0)
    assert np.abs(found - reference_scores(MODEL, signals_of(MODEL, [raw]))[0]).max() < 1e-5


def test_fixed_point_follows() -> None:
    inputs = signals_of(MODEL, sequences())
    native = Native(c_files(MODEL, inputs, number="int16"))
    found = np.stack([native.stream(raw)[1] for raw in sequences()])
    close = agreement(found, reference_scores(MODEL, inputs))
    assert close.largest_difference < 0.01 * close.largest_score


def test_onnx_and_bytes_know_the_duration() -> None:
    inputs = signals_of(MODEL, sequences())
    wanted = reference_scores(MODEL, inputs)
    assert np.abs(onnx_runner(to_onnx(MODEL))(inputs) - wanted).max() < 1e-4
    back = from_bytes(to_bytes(MODEL, values="half"))
    assert back.normaliser is not None and back.normaliser.duration == (4.2, 0.8)
    assert agreement(reference_scores(back, signals_of(back, sequences())), wanted).largest_difference < 0.05


def test_a_damaged_duration_is_refused() -> None:
    assert MODEL.normaliser is not None
    broken = dataclasses.replace(MODEL, normaliser=dataclasses.replace(MODEL.normaliser, duration=(4.2, 0.0)))
    with pytest.raises(ExportError, match="duration must be a mean and a deviation"):
        from_bytes(to_bytes(broken))
