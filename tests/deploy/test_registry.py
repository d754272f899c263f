"""One registry says which networks can be exported; every stage knows each of its kinds."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from bandstop.deploy import DeployModel, to_bytes, to_onnx
from bandstop.deploy.lower import KINDS, folded, kind_of, lower, lower_variants
from bandstop.deploy.lower.sequential import flattened_layers
from bandstop.deploy.onnx.file import NODES
from bandstop.deploy.plan import LANES
from bandstop.errors import ExportError
from bandstop.nets import NetConfig
from tests.deploy.nets_for_tests import make_net

SENTENCE = "only GCN, LSTMRecogniser, TCN and Sequential networks can be exported, found Linear"


def test_every_kind_has_nodes_of_onnx():
    assert [kind.name for kind in KINDS] == list(NODES)


@pytest.mark.parametrize(
    "stage", [lambda m: lower(m.net, m.example), to_onnx, to_bytes, lambda m: kind_of(m.net)]
)
def test_other_networks_are_refused_in_one_sentence_everywhere(stage):
    model = DeployModel(nn.Linear(2, 2).eval(), None, ("a", "b"), input_shape=(2,))
    with pytest.raises(ExportError, match=SENTENCE):
        stage(model)


@pytest.mark.parametrize(
    "config", [{}, {"combine": "sum", "dense": 8}, {"kind": "lstm", "hidden": 6}, {"kind": "tcn"}]
)
def test_settings_build_the_same_network_again(config):
    net = make_net(0.9, **config)
    settings = kind_of(net).settings(net)
    again = make_net(0.9, **settings)
    assert NetConfig(**{"kind": "gcn", **settings}) == NetConfig(**{"kind": "gcn", **config})
    assert [p.shape for p in again.parameters()] == [p.shape for p in net.parameters()]


@pytest.mark.parametrize("config", [{}, {"combine": "sum"}, {"dense": 8}, {"adjacency": "fixed"}])
def test_folding_leaves_only_offsets_and_the_network_as_it_was(config):
    net, inputs = make_net(0.5, **config), torch.randn(4, 21, 96)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    plain = folded(net)
    assert torch.allclose(plain(inputs), net(inputs), atol=1e-5)
    for name, norm in plain.named_children():
        if isinstance(norm, nn.BatchNorm1d):
            assert torch.equal(norm.weight, torch.ones_like(norm.weight)), name
            assert not norm.running_mean.any()
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_a_normalisation_without_statistics_is_refused_by_name():
    net = make_net(0.5)
    net.graph_norm.running_mean = net.graph_norm.running_var = None
    with pytest.raises(ExportError, match="layer graph_norm: normalisation without running statistics"):
        folded(net)


def test_variants_compute_the_same():
    net, inputs = make_net(0.97), torch.randn(3, 21, 96)
    programs = lower_variants(net, inputs[:1], lanes=LANES)
    assert len(programs) > 1
    for program in programs:
        assert program.sizes["signal"] == 96 * 24
        torch.testing.assert_close(
            torch.from_numpy(program(inputs.numpy())), net(inputs).detach(), atol=1e-5, rtol=0
        )


def test_layers_of_nested_stacks_have_their_full_names():
    stack = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh())))
    assert [name for name, _ in flattened_layers(stack)] == ["0", "1.0", "1.1.0"]
