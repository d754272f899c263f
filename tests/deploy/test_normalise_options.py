"""Sizes and orientations of sequences, taken out or left in: every export answers as torch does."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import onnx
import pytest

from bandstop.deploy.model import DeployModel
from bandstop.deploy.onnx.file import onnx_runner, to_onnx
from bandstop.deploy.onnx.front_end import network_input
from bandstop.deploy.packed.file import from_bytes, to_bytes
from bandstop.deploy.run.native import Native
from bandstop.deploy.verify import agreement, reference_scores, signals_of
from bandstop.errors import ExportError
from tests.deploy.nets_for_tests import c_files, make_model, sequences
from tests.deploy.parts_models import parts_model

OPTIONS: dict[str, dict[str, object]] = {
    "none": {"unit": 40.0},
    "orientation": {"unit": 40.0, "facing": (2, 5)},
    "size+orientation": {"facing": (2, 5)},
}
TURN = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
TURN *= np.linalg.det(TURN)


def with_option(model: DeployModel, name: str) -> DeployModel:
    assert model.normaliser is not None
    return dataclasses.replace(model, normaliser=dataclasses.replace(model.normaliser, **OPTIONS[name]))  # type: ignore[arg-type]


MODELS = {
    "gcn": make_model(0.97),
    "tcn": parts_model(),
    "places": parts_model(("places", "steps", "moment")),
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("net", MODELS)
def test_c_answers_as_torch(net, name) -> None:
    model = with_option(MODELS[net], name)
    for aim in ("speed", "size"):
        native = Native(c_files(model, aim=aim), flags=("-O1", "-march=native"))
        wanted = reference_scores(model, signals_of(model, sequences()))
        found = np.stack([native.stream(raw)[1] for raw in sequences()])
        assert np.abs(found - wanted).max() < 1e-4 * max(1, np.abs(wanted).max())


@pytest.mark.parametrize("number", ["float32", "int8", "int16"])
def test_turning_and_scaling_a_sequence_changes_nothing(number) -> None:
    model = with_option(MODELS["tcn"], "size+orientation")
    inputs = None if number == "float32" else signals_of(model, sequences())
    native = Native(c_files(model, inputs, aim="size", number=number), flags=("-O1",))
    allowed = {"float32": 1e-4, "int16": 1e-2, "int8": 5e-2}[number]
    for raw in sequences()[2:]:
        other = np.asarray(2.5 * raw @ TURN.T + 7, np.float32)
        one, two = (native.stream(frames)[1] for frames in (raw, other))
        assert np.abs(one - two).max() < allowed * max(1, np.abs(one).max())
        one, two = reference_scores(model, signals_of(model, [raw, other]))
        assert np.abs(one - two).max() < 1e-4 * max(1, np.abs(one).max())


def test_frames_without_a_known_end() -> None:
    model = with_option(MODELS["tcn"], "size+orientation")
    native = Native(c_files(model, aim="size", open_ended=True), open_ended=True)
    raw = sequences()[-1][:60]
    _, found, _ = native.stream(raw, length=0)
    wanted = reference_scores(model, signals_of(model, [raw]))[0]
    assert np.abs(found - wanted).max() < 1e-4 * max(1, np.abs(wanted).max())


@pytest.mark.parametrize("name", OPTIONS)
def test_onnx_and_bytes(name) -> None:
    model = with_option(MODELS["tcn"], name)
    data = to_onnx(model)
    facts = {p.key: p.value for p in onnx.load_from_string(data).metadata_props}
    for raw in sequences():
        given = network_input(raw, json.loads(facts["normaliser"]))
        np.testing.assert_allclose(given, signals_of(model, [raw]), atol=2e-4, rtol=1e-4)
        wanted = reference_scores(model, given)
        assert np.abs(onnx_runner(data)(given) - wanted).max() < 1e-4 * max(1, np.abs(wanted).max())
    back = from_bytes(to_bytes(model, values="half"))
    assert back.normaliser is not None and model.normaliser is not None
    assert (back.normaliser.unit, back.normaliser.facing) == (model.normaliser.unit, model.normaliser.facing)
    wanted = reference_scores(model, signals_of(model, sequences()))
    found = reference_scores(back, signals_of(back, sequences()))
    assert agreement(found, wanted).largest_difference < 0.02 * np.abs(wanted).max()


def test_a_sequence_in_a_line_is_left_as_it_is() -> None:
    model = with_option(MODELS["gcn"], "size+orientation")
    line = np.zeros((40, 21, 3), np.float32)
    line[..., 0] = np.arange(21)
    native = Native(c_files(model), flags=("-O1", "-march=native"))
    wanted = reference_scores(model, signals_of(model, [line]))[0]
    assert np.abs(native.stream(line)[1] - wanted).max() < 1e-4 * max(1, np.abs(wanted).max())


def test_damaged_options_are_refused() -> None:
    model = with_option(MODELS["gcn"], "size+orientation")
    broken = to_bytes(model)
    assert from_bytes(broken)
    object.__setattr__(model.normaliser, "facing", (2, 99))
    with pytest.raises(ExportError, match="two joints besides the root"):
        from_bytes(to_bytes(model))
