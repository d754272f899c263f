"""The script beside an ONNX file makes the network's input from raw frames as training does."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import numpy as np
import onnx
import pytest

from bandstop.deploy import export_model
from bandstop.deploy.onnx.file import to_onnx
from bandstop.deploy.onnx.front_end import network_input
from bandstop.deploy.verify import reference_scores, signals_of
from bandstop.errors import DataError
from bandstop.record.signal import PARTS
from tests.deploy.nets_for_tests import make_model, normaliser, sequences
from tests.deploy.parts_models import composed

NORMALISERS = {
    "bones": normaliser(),
    "no bones": dataclasses.replace(normaliser(), edges=(), root=4),
    "parts": composed(tuple(PARTS)),
    "motion": dataclasses.replace(normaliser(), duration=(4.2, 0.8)),
}


@pytest.mark.parametrize("name", NORMALISERS)
def test_inputs_are_those_of_training(name):
    model = dataclasses.replace(make_model(0.97), normaliser=NORMALISERS[name])
    fields = dataclasses.asdict(NORMALISERS[name])
    described = json.loads(json.dumps({k: v for k, v in fields.items() if v is not None}))
    for raw in sequences():
        np.testing.assert_allclose(
            network_input(raw, described), signals_of(model, [raw]), atol=2e-4, rtol=1e-4
        )


def test_the_metadata_are_what_the_script_reads():
    read = onnx.load_from_string(to_onnx(make_model(0.97)))
    facts = {p.key: p.value for p in read.metadata_props}
    assert set(json.loads(facts["normaliser"])) == {"root", "edges", "node_scale", "chunks"}


def test_the_script_runs_alone(tmp_path):
    model = make_model(0.97)
    export_model(model, "onnx", tmp_path, sequences=sequences())
    raw = sequences()[-1]
    np.save(tmp_path / "frames.npy", raw)
    text = (tmp_path / "recogniser_input.py").read_text()
    assert "bandstop" not in text, "the script needs no bandstop"
    command = [sys.executable, "-I", "recogniser_input.py", "recogniser.onnx", "frames.npy"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    best = reference_scores(model, signals_of(model, [raw]))[0].argmax()
    assert shown.rsplit(" ", 1)[0] == model.class_names[best]
    np.save(tmp_path / "frames.npy", raw[:, :, :1])
    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.stderr.startswith("frames.npy: frames must have shape [frames, 21, 3]")


def test_frames_of_two_axes_lie_in_a_plane():
    model, raw = make_model(0.97), sequences()[-1].copy()
    raw[:, :, 2] = 0
    described = json.loads(json.dumps(dataclasses.asdict(normaliser())))
    described = {name: value for name, value in described.items() if value is not None}
    np.testing.assert_array_equal(network_input(raw[:, :, :2], described), network_input(raw, described))
    np.testing.assert_array_equal(signals_of(model, [raw[:, :, :2]]), signals_of(model, [raw]))
    four = np.concatenate([raw, raw[:, :, :1]], axis=2)
    for wrong in (four, raw[:, :, :1], raw[:, 1:], raw[0], raw[:0]):
        rule = r"must have shape \[frames, 21, 3\] as in training"
        with pytest.raises(DataError, match=f"sequence 1 {rule}"):
            signals_of(model, [raw, wrong])
        with pytest.raises(ValueError, match=rule):
            network_input(wrong, described)
