"""The paper's network against plain loops."""

import pytest
import torch

from bandstop.nets import GCN, GraphConv, LSTMRecogniser, NetConfig, build_net, skeleton_heads

EDGES = torch.tensor([[0, 1], [1, 2], [1, 3]])


@pytest.mark.parametrize("combine", ["sum", "concat"])
def test_graph_convolution_against_plain_loops(combine: str) -> None:
    torch.manual_seed(0)
    layer = GraphConv(4, channels=3, filters=5, heads=2, combine=combine, edges=EDGES)  # type: ignore[arg-type]
    x = torch.randn(6, 4, 3)
    heads = []
    for k in range(2):
        out = torch.zeros(6, 4, 5)
        for b in range(6):
            for v in range(4):
                for f in range(5):
                    for u in range(4):
                        for c in range(3):
                            out[b, v, f] += layer.adjacency[k, v, u] * x[b, u, c] * layer.filters[k, c, f]
        heads.append(out)
    expected = sum(heads) if combine == "sum" else torch.cat(heads, dim=-1)
    assert torch.allclose(layer(x), expected, atol=1e-5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("combine", "dense", "weights"), [("sum", 0, 39_400), ("concat", 0, 251_080), ("sum", 256, 192_712)]
)
def test_sizes_of_the_paper_s_family(combine: str, dense: int, weights: int) -> None:
    net = build_net(NetConfig(kind="gcn", combine=combine, dense=dense), joints=21, signal=96, classes=45)  # type: ignore[arg-type]
    assert sum(p.numel() for p in net.parameters() if p.ndim > 1) == weights
    assert net(torch.zeros(2, 21, 96)).shape == (2, 45)


def test_adjacency_starts() -> None:
    fixed = GCN(4, 6, 2, adjacency="fixed", edges=EDGES)
    assert "graph.adjacency" not in dict(fixed.named_parameters())
    assert torch.equal(fixed.graph.adjacency, skeleton_heads(EDGES, 4, 8))
    learned = GCN(4, 6, 2, adjacency="skeleton", edges=EDGES)
    assert (learned.graph.adjacency[1][0, 1] > learned.graph.adjacency[1][0, 2]).item()


def test_heads_are_rings_of_hops() -> None:
    heads = skeleton_heads(EDGES, 4, 3)
    assert torch.equal(heads[0], torch.eye(4))
    assert heads[2][0].tolist() == [0, 0, 0.5, 0.5]
    assert torch.allclose(heads.sum(-1), torch.ones(3, 4))


@pytest.mark.parametrize("layers", [1, 2])
def test_lstm_reads_poses_in_time(layers: int) -> None:
    torch.manual_seed(0)
    net = LSTMRecogniser(2, 9, 3, hidden=4, layers=layers)
    x = torch.randn(5, 2, 9)
    poses = torch.stack([torch.cat([x[:, v, 3 * m : 3 * m + 3] for v in range(2)], 1) for m in range(3)], 1)
    states, _ = net.lstm(poses)
    assert torch.allclose(net(x), net.classifier(states[:, -1]), atol=1e-6)
