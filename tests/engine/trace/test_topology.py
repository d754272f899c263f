"""Live connections and multiply-accumulates against an explicit search in the written-out graph."""

from __future__ import annotations

from itertools import pairwise
from itertools import product as grid

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from bandstop.engine.trace import count_kept, effective_weights, kept, trace
from bandstop.nets.gcn import GCN
from tests.engine.trace.graph_search import Graph, agrees, prune

torch.set_num_threads(1)
DENSITIES = st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0])
SEEDS = st.integers(0, 10_000)
quick = settings(max_examples=25, deadline=None)


@quick
@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), DENSITIES, SEEDS)
def test_perceptron(widths: list[int], density: float, seed: int) -> None:
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.GELU(), nn.Dropout(0.5)]
    net = nn.Sequential(*layers)
    graph = Graph(prune(net, density, seed))
    for depth, (inputs, outputs) in enumerate(pairwise(widths)):
        graph.linear(
            f"{4 * depth}.weight",
            [(depth, i) for i in range(inputs)],
            [(depth + 1, o) for o in range(outputs)],
        )
    graph.inputs = {(0, i) for i in range(widths[0])}
    graph.outputs = {(len(widths) - 1, o) for o in range(widths[-1])}
    agrees(trace(net, torch.randn(1, widths[0])), graph)


def convolve(
    graph: Graph,
    name: str,
    source: str,
    target: str,
    size: int,
    stride: int,
    padding: int,
    dilation: int,
    groups: int,
) -> int:
    """Wire a two-dimensional convolution of square planes; returns the size of its output."""
    outputs, per_group, k, _ = graph.masks[name].shape
    after = (size + 2 * padding - dilation * (k - 1) - 1) // stride + 1
    for o, i, y, x, dy, dx in grid(
        range(outputs), range(per_group), range(after), range(after), range(k), range(k)
    ):
        row, column = y * stride - padding + dy * dilation, x * stride - padding + dx * dilation
        if 0 <= row < size and 0 <= column < size:
            channel = o // (outputs // groups) * per_group + i
            graph.wire((source, channel, row, column), (target, o, y, x), name, (o, i, dy, dx))
    return after


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([1, 2]),
    st.integers(0, 2),
    st.sampled_from([1, 2]),
    st.sampled_from([1, 2, 4]),
    DENSITIES,
    SEEDS,
)
def test_convolutions(
    stride: int, padding: int, dilation: int, groups: int, density: float, seed: int
) -> None:
    net = nn.Sequential(
        nn.Conv2d(2, 4, 3, stride, padding, dilation),
        nn.ReLU(inplace=True),
        nn.Conv2d(4, 4, 2, padding=1, groups=groups),
        nn.MaxPool2d(2, ceil_mode=True),
        nn.Flatten(),
        nn.Linear(4, 3),
    )
    graph = Graph(prune(net, density, seed))
    size = 8
    after = convolve(graph, "0.weight", "in", "a", size, stride, padding, dilation, 1)
    net[5] = nn.Linear(4 * ((after + 2) // 2) ** 2, 3)
    graph.masks = prune(net, density, seed)
    after = convolve(graph, "2.weight", "a", "b", after, 1, 1, 1, groups)
    pooled = (after + 1) // 2
    for c, y, x in grid(range(4), range(after), range(after)):
        graph.wire(("b", c, y, x), ("p", c, y // 2, x // 2))
    flat = [("p", c, y, x) for c, y, x in grid(range(4), range(pooled), range(pooled))]
    graph.linear("5.weight", flat, [("out", o) for o in range(3)])
    graph.inputs = {("in", c, y, x) for c, y, x in grid(range(2), range(size), range(size))}
    graph.outputs = {("out", o) for o in range(3)}
    agrees(trace(net, torch.randn(1, 2, size, size)), graph)


@quick
@given(st.sampled_from([1, 2, 3]), st.integers(0, 1), DENSITIES, SEEDS)
def test_transposed_convolution(stride: int, padding: int, density: float, seed: int) -> None:
    net = nn.Sequential(nn.ConvTranspose1d(2, 3, 3, stride, padding), nn.AvgPool1d(3, 2), nn.Conv1d(3, 1, 1))
    graph = Graph(prune(net, density, seed))
    length = (5 - 1) * stride - 2 * padding + 3
    for i, o, t, k in grid(range(2), range(3), range(5), range(3)):
        if 0 <= t * stride + k - padding < length:
            graph.wire(("in", i, t), ("a", o, t * stride + k - padding), "0.weight", (i, o, k))
    pooled = (length - 3) // 2 + 1
    for c, t, k in grid(range(3), range(pooled), range(3)):
        graph.wire(("a", c, 2 * t + k), ("p", c, t))
    for c, t in grid(range(3), range(pooled)):
        graph.wire(("p", c, t), ("out", t), "2.weight", (0, c, 0))
    graph.inputs = {("in", i, t) for i, t in grid(range(2), range(5))}
    graph.outputs = {("out", t) for t in range(pooled)}
    agrees(trace(net, torch.randn(1, 2, 5)), graph)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["sum", "concat"]), st.booleans(), st.booleans(), DENSITIES, SEEDS)
def test_graph_convolution(combine: str, fixed: bool, dense: bool, density: float, seed: int) -> None:
    joints, signal, channels, heads, filters, classes = 4, 3, 3, 2, 2, 3
    net = GCN(
        joints,
        signal,
        classes,
        channels=channels,
        heads=heads,
        filters=filters,
        combine=combine,  # type: ignore[arg-type]
        dense=5 if dense else 0,
        adjacency="fixed" if fixed else "free",
        edges=torch.tensor([[0, 1], [1, 2], [2, 3]]),
    )
    graph = Graph(prune(net, density, seed))
    for v in range(joints):
        graph.linear(
            "encoder.weight", [("in", v, s) for s in range(signal)], [("e", v, c) for c in range(channels)]
        )
    adjacency = net.graph.adjacency.detach()
    for k, u, v, c in grid(range(heads), range(joints), range(joints), range(channels)):
        if fixed and adjacency[k, u, v] != 0:
            graph.wire(("e", v, c), ("m", k, u, c))
        elif not fixed:
            graph.wire(("e", v, c), ("m", k, u, c), "graph.adjacency", (k, u, v))
    for k, u, c, f in grid(range(heads), range(joints), range(channels), range(filters)):
        target = ("g", u, f) if combine == "sum" else ("g", u, k * filters + f)
        graph.wire(("m", k, u, c), target, "graph.filters", (k, c, f))
    flat = [("g", u, f) for u, f in grid(range(joints), range(filters * (1 if combine == "sum" else heads)))]
    if dense:
        graph.linear("dense.weight", flat, [("d", i) for i in range(5)])
        flat = [("d", i) for i in range(5)]
    graph.linear("classifier.weight", flat, [("out", i) for i in range(classes)])
    graph.inputs = {("in", v, s) for v, s in grid(range(joints), range(signal))}
    graph.outputs = {("out", i) for i in range(classes)}
    agrees(trace(net, torch.randn(1, joints, signal)), graph)


class Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second, self.last = nn.Linear(width, 3), nn.Linear(3, width), nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        branch = self.second(torch.tanh(self.first(x)))
        branch += x
        return self.last(F.layer_norm(branch, branch.shape[-1:]))


@quick
@given(DENSITIES, SEEDS)
def test_residual_connection(density: float, seed: int) -> None:
    net = Residual(4)
    graph = Graph(prune(net, density, seed))
    ins, mids, sums = ([(name, i) for i in range(n)] for name, n in (("in", 4), ("a", 3), ("b", 4)))
    graph.linear("first.weight", ins, mids)
    graph.linear("second.weight", mids, sums)
    graph.linear("last.weight", sums, [("out", 0), ("out", 1)])
    for source, target in zip(ins, sums, strict=True):
        graph.wire(source, target)
    graph.inputs, graph.outputs = set(ins), {("out", 0), ("out", 1)}
    agrees(trace(net, torch.randn(1, 4)), graph)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.once, self.twice = nn.Linear(3, 3), nn.Linear(3, 3)
        self.twice.weight = self.once.weight

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(self.twice(torch.relu(self.once(x))), self.once.weight.t())


@quick
@given(DENSITIES, SEEDS)
def test_tied_weights_add_up(density: float, seed: int) -> None:
    net = Tied()
    graph = Graph(prune(net, density, seed))
    layers = [[(depth, i) for i in range(3)] for depth in range(4)]
    graph.linear("once.weight", layers[0], layers[1])
    graph.linear("once.weight", layers[1], layers[2])
    for o, i in grid(range(3), range(3)):
        graph.wire(layers[2][i], layers[3][o], "once.weight", (i, o))
    graph.inputs, graph.outputs = set(layers[0]), set(layers[3])
    found = trace(net, torch.randn(1, 3))
    agrees(found, graph)
    assert found.macs_dense == 27


@pytest.mark.parametrize("kind", ["conv", "linear"])
def test_dense_counts_are_the_textbook_formulas(kind: str) -> None:
    if kind == "conv":
        found = trace(nn.Conv2d(6, 8, 5, groups=2), torch.randn(1, 6, 20, 30))
        assert found.macs_dense == found.macs_live == 8 * 3 * 25 * 16 * 26
    else:
        found = trace(nn.Linear(7, 5), torch.randn(1, 11, 7))
        assert found.macs_dense == found.macs == 11 * 7 * 5
        assert torch.equal(found.weights["weight"].uses, torch.full((5, 7), 11, dtype=torch.int32))


@quick
@given(SEEDS, DENSITIES)
def test_dead_weights_of_a_net_without_biases_have_no_say(seed: int, density: float) -> None:
    torch.manual_seed(seed)
    net = nn.Sequential(
        nn.Conv1d(2, 4, 3, bias=False),
        nn.ReLU(),
        nn.Conv1d(4, 4, 1, groups=4, bias=False),
        nn.Flatten(),
        nn.Linear(16, 6, bias=False),
        nn.Tanh(),
        nn.Linear(6, 3, bias=False),
    )
    prune(net, density, seed)
    found, x = trace(net, torch.zeros(1, 2, 6)), torch.randn(8, 2, 6)
    before = net(x)
    for name, weight in effective_weights(net).items():
        weight.data[~found.weights[name].live] = 0
    assert torch.allclose(net(x), before, atol=1e-6)
    again = trace(net, torch.zeros(1, 2, 6))
    assert again.kept == again.live == found.live


@settings(max_examples=5, deadline=None)
@given(SEEDS, DENSITIES)
def test_an_attachable_connection_is_live_once_it_is_kept(seed: int, density: float) -> None:
    net = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 2))
    masks = prune(net, density, seed)
    found = trace(net, torch.ones(1, 4), masks)
    for name, index in ((name, tuple(i.tolist())) for name, mask in masks.items() for i in (~mask).nonzero()):
        with_it = {key: mask.clone() for key, mask in masks.items()}
        with_it[name][index] = True
        grown = trace(net, torch.ones(1, 4), with_it)
        assert bool(grown.weights[name].live[index]) == bool(found.weights[name].attachable[index])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_depth_neither_overflows_nor_underflows(dtype: torch.dtype) -> None:
    deep = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(200)]).to(dtype)
    for layer, _ in deep:
        layer.weight.data.fill_(-0.5)
    found = trace(deep, torch.randn(1, 64, dtype=dtype))
    assert found.live == found.total == 200 * 64 * 64
    deep[150][0].weight.data.zero_()
    assert trace(deep, torch.randn(1, 64, dtype=dtype)).live == 0
    deep[150][0].weight.data[3, 5] = 1
    found = trace(deep, torch.randn(1, 64, dtype=dtype))
    assert found.live == 197 * 64 * 64 + 2 * 64 + 1
    assert found.kept == 199 * 64 * 64 + 1


def test_kept_counts_exact_zeros_only() -> None:
    layer = nn.Linear(3, 2)
    layer.weight.data = torch.tensor([[0.0, -0.0, 1e-40], [float("nan"), -3.0, 0.0]])
    assert kept(layer) == {"weight": 3} and count_kept(layer.weight) == 3
