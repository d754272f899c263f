"""Recurrent layers and attention against written-out graphs."""

from __future__ import annotations

from itertools import product as grid

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from bandstop.engine.trace import trace
from tests.engine.trace.graph_search import Graph, agrees, prune

torch.set_num_threads(1)
few = settings(max_examples=12, deadline=None)
SEEDS = st.integers(0, 10_000)
DENSITIES = st.sampled_from([0.1, 0.3, 0.6, 1.0])


class Reader(nn.Module):
    """A recurrent layer whose last state is classified."""

    def __init__(self, layer: nn.RNNBase, features: int) -> None:
        super().__init__()
        self.layer, self.last = layer, nn.Linear(features, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.layer(x)[0][:, -1])


def unroll(
    graph: Graph, cell: str, prefix: str, suffix: str, source: str, size: int, steps: int, backwards: bool
) -> None:
    """Write one direction of a recurrent layer out in time; states are ``(prefix + suffix, t, i)``."""
    w_ih, w_hh = f"{prefix}weight_ih_{suffix}", f"{prefix}weight_hh_{suffix}"
    state = prefix + suffix
    gates = {"LSTM": "ifgo", "GRU": "rzn", "RNN": "h"}[cell]
    inputs = graph.masks[w_ih].shape[1]
    for t in range(steps):
        before = t + 1 if backwards else t - 1
        for place, gate in enumerate(gates):
            targets = [(state, t, gate, i) for i in range(size)]
            graph.linear(w_ih, [(source, t, i) for i in range(inputs)], targets, rows=place * size)
            graph.linear(w_hh, [(state, before, i) for i in range(size)], targets, rows=place * size)
        for i in range(size):
            if cell == "LSTM":
                for gate in "ifg":
                    graph.wire((state, t, gate, i), (state, t, "c", i))
                graph.wire((state, before, "c", i), (state, t, "c", i))
                graph.wire((state, t, "c", i), (state, t, i))
                graph.wire((state, t, "o", i), (state, t, i))
            else:
                for gate in gates:
                    graph.wire((state, t, gate, i), (state, t, i))
                if cell == "GRU":
                    graph.wire((state, before, i), (state, t, i))


@few
@given(st.sampled_from(["LSTM", "GRU", "RNN"]), st.booleans(), st.booleans(), DENSITIES, SEEDS)
def test_recurrent_layers(cell: str, both: bool, bias: bool, density: float, seed: int) -> None:
    inputs, size, steps = 3, 2, 4
    layer = getattr(nn, cell)(inputs, size, num_layers=2, bias=bias, batch_first=True, bidirectional=both)
    net = Reader(layer, size * (1 + both))
    graph = Graph(prune(net, density, seed))
    source, ends = "in", [""]
    for depth in range(2):
        ends = ["", "_reverse"] if both else [""]
        for end in ends:
            unroll(graph, cell, "layer.", f"l{depth}{end}", source, size, steps, bool(end))
            for t, i in grid(range(steps), range(size)):
                graph.wire((f"layer.l{depth}{end}", t, i), (f"out{depth}", t, i + size * bool(end)))
        source = f"out{depth}"
    graph.linear(
        "last.weight", [("out1", steps - 1, i) for i in range(size * (1 + both))], [("y", 0), ("y", 1)]
    )
    graph.inputs = {("in", t, i) for t, i in grid(range(steps), range(inputs))}
    graph.outputs = {("y", 0), ("y", 1)}
    agrees(trace(net, torch.randn(1, steps, inputs)), graph)


def test_recurrent_cells_projections_and_packing_agree_with_layers() -> None:
    class Cell(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell, self.last = nn.LSTMCell(3, 4), nn.Linear(4, 2)

        def forward(self, x: Tensor) -> Tensor:
            state = None
            for step in x.unbind(1):
                state = self.cell(step, state)
            return self.last(state[0])

    class Packed(Reader):
        def forward(self, x: Tensor) -> Tensor:
            packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5]), batch_first=True)
            states, _ = nn.utils.rnn.pad_packed_sequence(self.layer(packed)[0], batch_first=True)
            return self.last(states[:, -1])

    cell, x = Cell(), torch.randn(1, 5, 3)
    prune(cell, 0.3, 1)
    layers = [kind(nn.LSTM(3, 4, batch_first=True), 4) for kind in (Reader, Packed)]
    for net in layers:
        for name in ("weight_ih", "weight_hh"):
            getattr(net.layer, f"{name}_l0").data = getattr(cell.cell, name).data
        net.last = cell.last
    found = [list(trace(net, x).weights.values()) for net in (cell, *layers)]
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert torch.equal(a.live, b.live) and a.macs_live == b.macs_live and a.macs_dense == b.macs_dense
    projected = trace(Reader(nn.LSTM(3, 4, proj_size=2, batch_first=True), 2), x)
    assert projected.weights["layer.weight_hr_l0"].macs_dense == 5 * 2 * 4
    assert projected.live == projected.total


class Attention(nn.Module):
    """The same attention three ways."""

    def __init__(self, way: str, heads: int = 2, width: int = 4) -> None:
        super().__init__()
        self.way, self.heads = way, heads
        self.inner = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        if self.way == "module":
            return self.inner(x, x, x)[0][:, :2]
        projected = F.linear(x, self.inner.in_proj_weight, self.inner.in_proj_bias)
        q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in projected.chunk(3, -1))
        if self.way == "fused":
            mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            mixed = torch.softmax(q @ k.transpose(-2, -1) / 2**0.5, dim=-1) @ v
        return self.inner.out_proj(mixed.transpose(1, 2).flatten(2))[:, :2]


@few
@given(DENSITIES, SEEDS)
def test_attention(density: float, seed: int) -> None:
    """Values reach the output through a head; queries and keys matter where the values of their head do."""
    heads, width, steps = 2, 4, 3
    net = Attention("module")
    masks = prune(net, density, seed)
    into, out = masks["inner.in_proj_weight"], masks["inner.out_proj.weight"]
    live_in, live_out = torch.zeros_like(into), torch.zeros_like(out)
    per_head = width // heads
    for h in range(heads):
        features = range(h * per_head, (h + 1) * per_head)
        through = [f for f in features if into[2 * width + f].any() and out[:, f].any()]
        for f in through:
            live_in[2 * width + f] = into[2 * width + f]
            live_out[:, f] = out[:, f]
        if through:
            for f in features:
                live_in[f], live_in[width + f] = into[f], into[width + f]
    results = {
        way: trace(Attention(way), torch.randn(1, steps, width), masks)
        for way in ("module", "fused", "by hand")
    }
    for way, found in results.items():
        assert torch.equal(found.weights["inner.in_proj_weight"].live, live_in), way
        assert torch.equal(found.weights["inner.out_proj.weight"].live, live_out), way
        assert found.weights["inner.in_proj_weight"].macs_dense == 3 * width * width * steps
        value, query = live_in[2 * width :].sum(), live_in[:width].sum()
        key = live_in[width : 2 * width].sum()
        assert found.weights["inner.in_proj_weight"].macs_live == int(3 * value + 2 * query + 3 * key), way
        assert found.weights["inner.out_proj.weight"].macs_live == 2 * int(live_out.sum())


def test_a_causal_mask_cuts_what_comes_later() -> None:
    class Causal(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.value, self.inner = nn.Linear(2, 2), nn.MultiheadAttention(2, 1, batch_first=True)

        def forward(self, x: Tensor) -> Tensor:
            v = self.value(x)
            if self.training:
                raise AssertionError("traces run in evaluation mode")
            mask = torch.ones(4, 4, dtype=torch.bool).triu(1)
            return F.scaled_dot_product_attention(v, v, v, is_causal=True)[:, 0], self.inner(
                v, v, v, attn_mask=mask
            )[0][:, 0]

    found = trace(Causal().train(), torch.randn(1, 4, 2))
    assert found.weights["value.weight"].macs_dense == 16
    assert found.weights["value.weight"].macs_live == 4  # the first position sees itself only
    assert found.weights["inner.in_proj_weight"].macs_live == 12


def test_a_whole_transformer_is_live() -> None:
    net = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    found = trace(net, (torch.randn(1, 5, 8), torch.randn(1, 3, 8)))
    assert found.live == found.total and found.macs_live == found.macs_dense
    projections = 4 * 64
    encoder, decoder = 5 * (projections + 2 * 8 * 16), 3 * (projections + 2 * 64 + 2 * 8 * 16) + 5 * 2 * 64
    assert found.macs_dense == encoder + decoder


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_precisions(dtype: torch.dtype) -> None:
    net = Reader(nn.LSTM(3, 4, batch_first=True), 4).to(dtype)
    found = trace(net, torch.randn(1, 5, 3, dtype=dtype))
    assert found.live == found.total and found.weights["layer.weight_ih_l0"].macs_live == 5 * 16 * 3
