"""The smallest file: comes back as the same network, stays under its size, and never trusts what it reads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bandstop.deploy.model import DeployModel
from bandstop.deploy.packed.file import from_bytes, to_bytes
from bandstop.deploy.packed.rice import best_parameter, rice_decode, rice_encode
from bandstop.deploy.verify import reference_scores
from bandstop.errors import ExportError
from tests.deploy.nets_for_tests import make_model

CONFIGS = [{}, {"combine": "concat"}, {"dense": 16}, {"kind": "lstm", "hidden": 10, "layers": 2}]
FPHA_LIKE = tuple(
    f"{verb} {thing}"
    for verb in ("open", "close", "pour", "use", "wash")
    for thing in [
        "a milk",
        "a juice bottle",
        "the soap",
        "a letter",
        "a wallet",
        "glasses",
        "sponge",
        "salt",
        "tea bag",
    ]
)


def kept(model: DeployModel) -> int:
    return sum(int((p != 0).sum()) for p in model.net.parameters() if p.ndim > 1)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("values,limit", [("half", 5e-3), ("8-bit", 5e-2)])
def test_round_trip(config, values, limit):
    model = make_model(0.95, **config)
    back = from_bytes(to_bytes(model, values=values))
    inputs = torch.randn(16, 21, 96).numpy()
    wanted = reference_scores(model, inputs)
    assert np.abs(reference_scores(back, inputs) - wanted).max() < limit * np.abs(wanted).max()
    assert back.class_names == model.class_names and back.joint_names == model.joint_names
    assert back.normaliser.edges == model.normaliser.edges and back.units == model.units
    np.testing.assert_allclose(back.normaliser.node_scale, model.normaliser.node_scale, rtol=1e-3)


def test_zeros_come_back_as_zeros_in_their_places():
    model = make_model(0.98)
    back = from_bytes(to_bytes(model, values="half"))
    for name in ("encoder.weight", "graph.adjacency", "graph.filters", "classifier.weight"):
        assert torch.equal(model.net.state_dict()[name] != 0, back.net.state_dict()[name] != 0), name


@pytest.mark.parametrize("rate", [0.98, 0.99])
def test_size_with_long_names(rate):
    from dataclasses import replace

    model = replace(make_model(rate), class_names=FPHA_LIKE)
    assert len(FPHA_LIKE) == 45
    assert len(to_bytes(model)) <= 2.5 * kept(model) + 512


@given(st.lists(st.integers(0, 5000), max_size=200))
def test_rice_codes_invert(gaps):
    k = best_parameter(gaps)
    coded = rice_encode(gaps, k)
    assert rice_decode(coded + b"more", len(gaps), k) == (gaps, len(coded))


FILE = to_bytes(make_model(0.98))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_files_are_refused_or_read_but_never_crash(data):
    damaged = bytearray(FILE[: data.draw(st.integers(0, len(FILE)))])
    for _ in range(data.draw(st.integers(0, 3))):
        if damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        model = from_bytes(bytes(damaged))
    except ExportError:
        return
    assert isinstance(model, DeployModel)


def test_what_it_refuses():
    with pytest.raises(ExportError, match="must begin with BSN1"):
        from_bytes(b"PK\x03\x04 something else")
    with pytest.raises(ExportError, match="after its end"):
        from_bytes(FILE + b"x")
    with pytest.raises(ExportError, match="found Sequential"):
        to_bytes(DeployModel(torch.nn.Sequential(torch.nn.Linear(2, 2)), None, ("a", "b"), input_shape=(2,)))
