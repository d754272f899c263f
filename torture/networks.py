"""Odd networks: every kind of layer, weights that are tied, views of one memory, expanded, empty, strange."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

__all__ = ["NETWORKS"]


class Bare(nn.Module):
    """Parameters without layers, a bias first."""

    def __init__(self) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.randn(5))
        self.matrix = nn.Parameter(torch.randn(5, 6))
        self.cube = nn.Parameter(torch.randn(3, 4, 5))
        self.table = nn.ParameterDict({"a b": nn.Parameter(torch.randn(4, 4))})
        self.rows = nn.ParameterList([nn.Parameter(torch.randn(2, 7)), nn.Parameter(torch.randn(7, 2))])


def _tied() -> nn.Module:
    net = nn.Sequential(nn.Embedding(9, 6), nn.Linear(6, 6), nn.Linear(6, 9, bias=False))
    net[2].weight = net[0].weight
    return net


def _views(rows: int) -> nn.Module:
    memory = torch.randn(12, 8)
    net = nn.Sequential(nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False))
    net[0].weight, net[1].weight = nn.Parameter(memory[:8]), nn.Parameter(memory[12 - rows :])
    return net


def _transposed() -> nn.Module:
    net = nn.Linear(6, 10)
    net.weight = nn.Parameter(torch.randn(6, 10).t())
    return net


def _every_second() -> nn.Module:
    net = nn.Linear(6, 10)
    net.weight = nn.Parameter(torch.randn(10, 12)[:, ::2])
    return net


def _expanded() -> nn.Module:
    net = nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 4))
    net[1].weight = nn.Parameter(torch.ones(1, 6).expand(4, 6))
    return net


def _inference() -> nn.Module:
    net = nn.Sequential(nn.Linear(6, 6))
    with torch.inference_mode():
        net.append(nn.Linear(6, 4))
    return net


def _special(value: Callable[[], torch.Tensor]) -> nn.Module:
    net = nn.Module()
    net.first, net.second = nn.Linear(4, 4), nn.Module()
    net.second.matrix = nn.Parameter(value(), requires_grad=value().is_floating_point())
    return net


def _filled(value: float) -> nn.Module:
    net = nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 4))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.fill_(value)
    return net


def _one(value: float) -> nn.Module:
    net = nn.Linear(6, 8)
    with torch.no_grad():
        net.weight[2, 3] = value
    return net


def _frozen() -> nn.Module:
    net = nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 4))
    net[0].requires_grad_(False)
    return net


def _normed() -> nn.Module:
    return nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(6, 8)), nn.Linear(8, 4))


def _old_prune() -> nn.Module:
    net = nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 4))
    nn.utils.prune.random_unstructured(net[0], "weight", 0.5)
    return net


def _named() -> nn.Module:
    net = nn.Module()
    for name in ("a/b", "weight", "é", "x" * 200, "\x1b[2J"):
        net.add_module(name, nn.Linear(3, 4))
    return net


def _shared_module() -> nn.Module:
    inner = nn.Linear(6, 6)
    return nn.Sequential(inner, nn.ReLU(), inner)


def _lazy() -> nn.Module:
    return nn.Sequential(nn.LazyLinear(4), nn.Linear(4, 2))


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Linear(6, 8),
    "one weight": lambda: nn.Linear(1, 1),
    "wide": lambda: nn.Linear(300, 2),
    "mlp": lambda: nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4)),
    "conv": lambda: nn.Sequential(nn.Conv1d(2, 3, 3), nn.Conv2d(3, 4, 3, groups=1), nn.Conv3d(1, 2, 2)),
    "groups": lambda: nn.Conv2d(4, 8, 3, groups=4),
    "transposed convolution": lambda: nn.Sequential(nn.ConvTranspose2d(2, 3, 3), nn.ConvTranspose1d(2, 2, 4)),
    "embedding": lambda: nn.Sequential(nn.Embedding(7, 5), nn.Linear(5, 3)),
    "padding": lambda: nn.Sequential(nn.Embedding(7, 5, padding_idx=3), nn.Linear(5, 3)),
    "one padding row": lambda: nn.Embedding(1, 4, padding_idx=0),
    "bag": lambda: nn.EmbeddingBag(7, 5),
    "sparse gradients": lambda: nn.Embedding(7, 5, sparse=True),
    "max norm": lambda: nn.Embedding(7, 5, max_norm=1.0),
    "lstm": lambda: nn.LSTM(3, 4, num_layers=2, bidirectional=True),
    "gru": lambda: nn.GRU(3, 4),
    "rnn cell": lambda: nn.RNNCell(3, 4),
    "attention": lambda: nn.MultiheadAttention(8, 2),
    "attention of parts": lambda: nn.MultiheadAttention(8, 2, kdim=4, vdim=6),
    "transformer": lambda: nn.TransformerEncoderLayer(8, 2, 16),
    "bilinear": lambda: nn.Bilinear(3, 4, 5),
    "bare": Bare,
    "tied": _tied,
    "shared module": _shared_module,
    "views that overlap": lambda: _views(10),
    "views side by side": lambda: _views(4),
    "transposed": _transposed,
    "every second": _every_second,
    "expanded": _expanded,
    "inference mode": _inference,
    "zeros": lambda: _filled(0.0),
    "all equal": lambda: _filled(0.25),
    "nan": lambda: _one(float("nan")),
    "infinite": lambda: _one(float("inf")),
    "huge": lambda: _filled(1e38),
    "denormal": lambda: _filled(1e-41),
    "half frozen": _frozen,
    "all frozen": lambda: nn.Linear(6, 8).requires_grad_(False),
    "no weights": lambda: nn.Sequential(nn.ReLU(), nn.LayerNorm(4)),
    "nothing": nn.Module,
    "empty weight": lambda: nn.Sequential(nn.Linear(0, 4), nn.Linear(4, 4)),
    "weight norm": _normed,
    "pruned by torch": _old_prune,
    "odd names": _named,
    "lazy": _lazy,
    "meta": lambda: nn.Linear(6, 8, device="meta"),
    "sparse": lambda: _special(lambda: torch.eye(4).to_sparse()),
    "float8": lambda: _special(lambda: torch.eye(4).to(torch.float8_e4m3fn)),
    "complex": lambda: _special(lambda: torch.randn(4, 4, dtype=torch.complex64)),
    "integers": lambda: _special(lambda: torch.ones(4, 4, dtype=torch.int8)),
    "scripted": lambda: torch.jit.script(nn.Linear(6, 8)),
    "many layers": lambda: nn.Sequential(*(nn.Linear(4, 4) for _ in range(30))),
}
"""Name → what makes the network; the seed is set before."""
