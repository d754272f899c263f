"""The ONNX file gives the network's scores, dense or sparse, and carries its names."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest
import torch
from torch import nn

from bandstop.deploy.model import DeployModel
from bandstop.deploy.onnx.file import _reference_runner, onnx_runner, to_onnx
from bandstop.deploy.verify import reference_scores
from bandstop.errors import ExportError
from tests.deploy.nets_for_tests import make_model

CONFIGS = [
    {},
    {"combine": "concat"},
    {"dense": 16},
    {"kind": "lstm", "hidden": 10, "layers": 2},
    {"kind": "lstm", "hidden": 6},
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("config", CONFIGS)
def test_scores(config, sparse):
    model = make_model(0.95, **config)
    inputs = torch.randn(4, 21, 96).numpy()
    wanted = reference_scores(model, inputs)
    assert np.abs(onnx_runner(to_onnx(model, sparse=sparse))(inputs) - wanted).max() < 1e-5


def test_reference_evaluator_agrees_too():
    model = make_model(0.95)
    inputs = torch.randn(2, 21, 96).numpy()
    assert np.abs(_reference_runner(to_onnx(model))(inputs) - reference_scores(model, inputs)).max() < 1e-5


def test_sparse_file_is_small_and_names_are_inside():
    model = make_model(0.98)
    dense, sparse = to_onnx(model), to_onnx(model, sparse=True)
    assert len(sparse) < len(dense) / 8
    read = onnx.load_from_string(sparse)
    facts = {p.key: p.value for p in read.metadata_props}
    assert json.loads(facts["class_names"]) == list(model.class_names)
    assert json.loads(facts["normaliser"])["chunks"] == 32
    assert not any(t.external_data for t in read.graph.initializer), "one file"


def test_sequential():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv1d(3, 4, 3, padding=1),
        nn.BatchNorm1d(4),
        nn.LeakyReLU(),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(4, 2),
    ).eval()
    model = DeployModel(net, None, ("a", "b"), input_shape=(3, 9))
    inputs = torch.randn(3, 3, 9).numpy()
    assert np.abs(onnx_runner(to_onnx(model))(inputs) - reference_scores(model, inputs)).max() < 1e-5
    with pytest.raises(ExportError, match="layer 0: Softplus"):
        to_onnx(DeployModel(nn.Sequential(nn.Softplus()), None, ("a",), input_shape=(1,)))
