"""What a trace makes of code as people write it: tables, writing in place, derived weights."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, parametrize

from bandstop.engine.trace import effective_weights, trace

torch.set_num_threads(1)


class Tokens(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.places = nn.Embedding(5, 4, max_norm=1.0), nn.Embedding(6, 4)
        self.code = nn.Parameter(torch.ones(1, 3, 4))
        self.last = nn.Linear(4, 2)

    def forward(self, tokens: Tensor, scale: float = 1.0) -> dict[str, Tensor]:
        x = self.table(tokens) + self.places(torch.arange(3)) + self.code
        x = x.masked_fill((tokens == 0).unsqueeze(-1), 0.0)
        return {"scores": self.last(x).mean(1) * scale}


def test_tables_and_position_codes() -> None:
    net = Tokens()
    net.last.weight.data[:, 1] = 0
    net.table.weight.data[:, 2] = 0
    net.table.weight.data[1:, 3] = 0
    before = copy.deepcopy(net.state_dict())
    found = trace(net, {"tokens": torch.tensor([[1, 1, 4]]), "scale": 0.5})
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())
    live = {name: weight.live for name, weight in found.weights.items()}
    assert live["table.weight"].tolist() == [[True, False, False, True]] + [[True, False, False, False]] * 4
    # feature 2 of the table is pruned; by the mask, which depends on the tokens, it varies nevertheless
    assert live["last.weight"].tolist() == [[True, False, True, True]] * 2
    assert live["code"].tolist() == [[[True, False, False, True]] * 3]
    assert live["places.weight"].tolist() == [[True, False, False, True]] * 3 + [[False] * 4] * 3
    assert {name: weight.macs_dense for name, weight in found.weights.items() if weight.macs_dense} == {
        "last.weight": 24
    }
    assert found.macs_live == 18


class InPlace(nn.Module):
    """Code as people write it: buffers filled by slices, in-place sums, views, kept attributes, no_grad."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False), nn.Linear(4, 1)
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.steps += 1
        out = torch.full((x.shape[0], 4), 7.0)
        left = out[:, :2]
        left.copy_(self.a(x))
        with torch.no_grad():
            out[:, 2:] = self.b(x).relu_()
        kept = out * 1
        out.data.mul_(2)
        out += torch.ones(4)
        self.seen = out
        first, *_ = (row for row in kept)
        return self.c(first.unsqueeze(0)).clamp_(min=0).type(torch.float32)


def test_code_in_place() -> None:
    net = InPlace()
    net.a.weight.data[0] = 0
    net.b.weight.data[1, 0] = 0
    found = trace(net, torch.randn(1, 2))
    assert found.weights["c.weight"].live.tolist() == [[False, True, True, True]]
    assert found.live == 2 + 3 + 3
    assert net.steps == 0 and not hasattr(net, "seen")
    with torch.inference_mode():
        assert trace(net, torch.randn(1, 2)).live == 8


def test_aliases_do_not_leak_into_what_was_read_before() -> None:
    class Alias(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b, self.c = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 1)

        def forward(self, x: Tensor) -> Tensor:
            early = self.a(x)
            late = F.dropout(torch.relu(early).contiguous(), training=self.training)
            late += self.b(x)
            return self.c(early)

    net = Alias()
    net.a.weight.data.zero_()
    found = trace(net, torch.randn(1, 2))
    assert found.live == 0


def test_einsum_of_several_weights_and_constant_structure() -> None:
    class Heads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.A, self.W = nn.Parameter(torch.ones(2, 3, 3)), nn.Parameter(torch.ones(2, 4, 5))
            self.register_buffer("link", torch.eye(3).to_sparse())
            self.free = nn.Parameter(torch.zeros(3, 1))

        def forward(self, x: Tensor) -> Tensor:
            mixed = torch.einsum("kuv,bvs,ksc->buc", self.A, x, self.W)
            return torch.sparse.mm(self.link, mixed[0])[0] * self.free[0]

    net = Heads()
    net.W.data[0] = 0
    found = trace(net, torch.randn(1, 3, 4), {"A": net.A, "W": net.W})
    assert found.weights["A"].live.nonzero().tolist() == [[1, 0, v] for v in range(3)]
    assert found.weights["A"].macs_dense == 2 * 3 * 3 * 4 and found.weights["A"].macs_live == 3 * 4
    assert found.weights["W"].macs_dense == 2 * 3 * 4 * 5 and found.weights["W"].macs_live == 4 * 5


def test_a_softmaxed_adjacency_has_no_zeros_but_a_scaled_one_does() -> None:
    class Mix(nn.Module):
        def __init__(self, soft: bool) -> None:
            super().__init__()
            self.A, self.soft, self.last = nn.Parameter(torch.eye(3)), soft, nn.Linear(3, 1)

        def forward(self, x: Tensor) -> Tensor:
            adjacency = self.A.softmax(-1) if self.soft else self.A / self.A.norm() * 0.5
            return self.last((x @ adjacency)[:, :1].expand(-1, 3))

    assert trace(Mix(True), torch.randn(1, 3)).weights["A"].live.sum() == 1
    for soft in (True, False):
        net = Mix(soft)
        net.A.data.fill_(0)
        assert trace(net, torch.randn(1, 3)).weights["last.weight"].live.all() == soft


def test_parametrised_weights_go_by_the_name_the_layer_uses() -> None:
    class Half(nn.Module):
        def forward(self, weight: Tensor) -> Tensor:
            return weight * (weight > 0)

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LSTM(4, 3, batch_first=True))
    for layer, name in ((net[0], "weight"), (net[2], "weight_hh_l0"), (net[2], "weight_ih_l0")):
        parametrize.register_parametrization(layer, name, Half())
    parametrizations.weight_norm(net[0], "bias", dim=0)
    plain = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LSTM(4, 3, batch_first=True))
    for name, weight in effective_weights(net).items():
        module, attribute = name.split(".")
        getattr(plain[int(module)], attribute).data = weight.detach().clone()
    found, expected = trace(net, torch.randn(1, 2, 3)), trace(plain, torch.randn(1, 2, 3))
    assert set(found.weights) == set(expected.weights) == {"0.weight", "2.weight_ih_l0", "2.weight_hh_l0"}
    for name, weight in found.weights.items():
        assert torch.equal(weight.live, expected.weights[name].live) and weight.kept < weight.total
    with parametrize.cached():
        trace(net, torch.randn(1, 2, 3))
        assert net[0].weight.requires_grad  # what the trace computed is not what the surrounding cache holds


def test_a_norm_of_weights_is_not_a_use_of_them() -> None:
    class Standardised(nn.Conv2d):
        def forward(self, x: Tensor) -> Tensor:
            weight = self.weight - self.weight.mean((1, 2, 3), keepdim=True)
            return F.conv2d(x, weight / weight.flatten(1).std(1).view(-1, 1, 1, 1))

    found = trace(Standardised(2, 3, 3), torch.randn(1, 2, 5, 5))
    assert found.live == found.total == 54 and found.macs_dense == found.macs_live == 54 * 9
    old = nn.Sequential(nn.utils.weight_norm(nn.Linear(3, 4)), nn.utils.spectral_norm(nn.Linear(4, 2)))
    found = trace(old, torch.randn(1, 3))
    assert found.macs_dense == found.macs_live == 12 + 8 and found.live == found.total == 12 + 4 + 8


def test_bilinear_layer() -> None:
    net = nn.Bilinear(2, 3, 4)
    net.weight.data[1] = 0
    found = trace(net, (torch.randn(1, 2), torch.randn(1, 3)))
    assert found.macs_dense == 24 and found.live == found.macs_live == 18


def test_views_after_contiguous() -> None:
    class Heads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 1)

        def forward(self, x: Tensor) -> Tensor:
            x = F.relu(self.first(x)).view(1, 3, 2, 2).transpose(1, 2).contiguous()
            return self.last(torch.cat([x, x], 1)[:, :2].transpose(1, 2).contiguous().view(1, 3, 4))

    found = trace(Heads(), torch.randn(1, 3, 4))
    assert found.live == 20 and found.macs_live == 60
