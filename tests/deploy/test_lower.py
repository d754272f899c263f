"""The sparse program computes what the network computes, with nothing dead in it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from bandstop.deploy.ir.simplify import constants, liveness
from bandstop.deploy.lower import Variant, lower
from bandstop.deploy.lower.gcn import likely_orders
from bandstop.errors import ExportError
from tests.deploy.nets_for_tests import make_net, settle_norms

CONFIGS = [
    {},
    {"combine": "concat"},
    {"dense": 16},
    {"adjacency": "fixed"},
    {"combine": "concat", "dense": 8},
]


def close(program, net, inputs):
    wanted = net(inputs).detach().numpy()
    assert np.abs(program(inputs.numpy()) - wanted).max() < 1e-5 * max(1, np.abs(wanted).max())


@pytest.mark.parametrize("order", ["nodes", "filters", "paths"])
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("rate", [0.9, 0.98])
def test_gcn_in_every_order(rate, config, order):
    net = make_net(rate, **config)
    inputs = torch.randn(5, 21, 96)
    for pitch, compact in ((21, True), (24, False)):
        variant = Variant(pitch, (order,) * 8)
        close(lower(net, inputs[:1], variant=variant, compact=compact), net, inputs)


@pytest.mark.parametrize("rate", [0.0, 0.99])
def test_gcn_mixed_orders(rate):
    net = make_net(rate, seed=3)
    orders = ("nodes", "filters", "paths", "nodes", "filters", "nodes", "paths", "filters")
    if rate:
        close(lower(net, torch.zeros(1, 21, 96), variant=Variant(orders=orders)), net, torch.randn(3, 21, 96))
    variant = Variant(orders=("filters", "nodes") * 4)
    close(lower(net, torch.zeros(1, 21, 96), variant=variant), net, torch.randn(3, 21, 96))


@pytest.mark.parametrize("layers", [1, 2])
def test_lstm(layers):
    net = make_net(0.9, kind="lstm", hidden=12, layers=layers)
    close(lower(net, torch.zeros(1, 21, 96)), net, torch.randn(4, 21, 96))


def test_sequential_with_convolutions():
    net = nn.Sequential(
        nn.BatchNorm1d(3),
        nn.Conv1d(3, 8, 5, padding=2, stride=2),
        nn.BatchNorm1d(8),
        nn.ReLU(),
        nn.Sequential(nn.Conv1d(8, 6, 3, dilation=2, padding=1, bias=False), nn.Tanh()),
        nn.BatchNorm1d(6),
        nn.Dropout(0.5),
        nn.Flatten(),
        nn.Linear(48, 7),
        nn.LeakyReLU(),
        nn.Linear(7, 3),
        nn.Sigmoid(),
    )
    settle_norms(net)
    close(lower(net.eval(), torch.zeros(1, 3, 19)), net, torch.randn(4, 3, 19))


@pytest.mark.parametrize(
    "kernel,stride,pad,dilation,length",
    [(1, 1, 0, 1, 4), (7, 3, 5, 2, 16), (3, 4, 4, 1, 9), (4, 1, 3, 3, 11)],
)
def test_convolution_borders(kernel, stride, pad, dilation, length):
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv1d(2, 3, kernel, stride=stride, padding=pad, dilation=dilation), nn.Flatten()
    ).eval()
    close(lower(net, torch.zeros(1, 2, length)), net, torch.randn(4, 2, length))


def test_pooling_and_shared_linear():
    net = nn.Sequential(
        nn.Linear(6, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(4, 2)
    ).eval()
    close(lower(net, torch.zeros(1, 4, 6)), net, torch.randn(3, 4, 6))


def test_dead_units_and_constants_leave_nothing_behind():
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)).eval()
    with torch.no_grad():
        net[0].weight[0] = 0  # unit 0 is a constant: relu(bias)
        net[0].bias[0] = 0.7
        net[2].weight[:, 1] = 0  # unit 1 reaches no output
    program = lower(net, torch.zeros(1, 4))
    assert program.entries == 4 + 2  # unit 2's inputs and its two outputs
    close(program, net, torch.randn(5, 4))
    np.testing.assert_allclose(
        program.operations[-1].bias, (net[2].bias + 0.7 * net[2].weight[:, 0]).detach(), rtol=1e-6
    )


def test_everything_kept_is_live_at_high_sparsity():
    net = make_net(0.99, seed=5)
    program = lower(net, torch.zeros(1, 21, 96), variant=Variant(24, likely_orders(net)[1]))
    live, (fixed, _) = liveness(program), constants(program)
    for operation in program.operations:
        for term in operation.terms:
            assert live[operation.dst][term.destinations()].any(axis=1).all()
            assert (~fixed[term.src][term.sources()]).any(axis=1).all()


def test_network_whose_answer_is_constant():
    net = make_net(0.5)
    with torch.no_grad():
        net.classifier.weight.zero_()
    program = lower(net, torch.zeros(1, 21, 96))
    assert program.entries == 0
    close(program, net, torch.randn(2, 21, 96))


@pytest.mark.parametrize(
    "net,words",
    [
        (nn.Sequential(nn.Linear(4, 4), nn.Softplus()), "layer 1: Softplus"),
        (nn.Sequential(nn.MaxPool1d(2)), "layer 0: MaxPool1d"),
        (nn.Sequential(nn.Sequential(nn.Linear(4, 2), nn.GELU())), "layer 0.1: GELU"),
        (nn.Linear(4, 4), "found Linear"),
        (nn.Sequential(nn.Linear(3, 2)), "layer 0: expects 3 values, found 4"),
    ],
)
def test_what_cannot_be_translated_is_refused_by_name(net, words):
    with pytest.raises(ExportError, match=words.replace("(", r"\(")):
        lower(net.eval(), torch.zeros(1, 4))


def test_training_mode_and_bad_weights_are_refused():
    net = make_net(0.5)
    with pytest.raises(ExportError, match="evaluation mode"):
        lower(net.train(), torch.zeros(1, 21, 96))
    net.eval().classifier.weight.data[0, 0] = float("nan")
    with pytest.raises(ExportError, match=r"found 1 that are not in classifier\.weight"):
        lower(net, torch.zeros(1, 21, 96))
