"""An exact number of connections, all of them live."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from bandstop.engine.select.live import live_selection
from bandstop.engine.trace import effective_weights, trace
from bandstop.errors import BudgetError, ModelError
from bandstop.nets.gcn import GCN

torch.set_num_threads(1)


def magnitudes(model: nn.Module) -> dict[str, Tensor]:
    return {name: weight.detach().abs() for name, weight in effective_weights(model).items()}


@pytest.mark.parametrize("rate", [0.0, 0.5, 0.9, 0.98, 0.99, 0.995])
def test_exact_and_all_live_on_the_graph_network(rate: float) -> None:
    torch.manual_seed(3)
    net, x = GCN(21, 96, 45, dense=64), torch.randn(1, 21, 96)
    scores = magnitudes(net)
    count = round(sum(score.numel() for score in scores.values()) * (1 - rate))
    chosen = live_selection(scores, count, net, x)
    found = trace(net, x, chosen.masks)
    assert chosen.exact and chosen.count == found.kept == found.live == count
    assert chosen.traces <= 60
    again = live_selection(scores, count, net, x)
    assert all(torch.equal(mask, again.masks[name]) for name, mask in chosen.masks.items())


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000))
def test_exact_wherever_brute_force_finds_a_live_set(seed: int) -> None:
    torch.manual_seed(seed)
    net, x = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)), torch.ones(1, 2)
    scores = {name: torch.rand(2, 2) for name in ("0.weight", "1.weight")}
    places = [(name, i, j) for name in scores for i in range(2) for j in range(2)]

    def all_live(subset: tuple[tuple[str, int, int], ...]) -> bool:
        first, second = ({p[1:] for p in subset if p[0] == name} for name in scores)
        fed, heard = {o for o, _ in first}, {i for _, i in second}
        return all(o in heard for o, _ in first) and all(i in fed for _, i in second)

    for count in range(9):
        feasible = any(all_live(subset) for subset in combinations(places, count))
        chosen = live_selection(scores, count, net, x)
        picked = tuple((name, i, j) for name, i, j in places if chosen.masks[name][i, j])
        assert len(picked) == chosen.count <= count and all_live(picked)
        assert chosen.exact == (chosen.count == count) == feasible


def test_what_cannot_be_is_said() -> None:
    net, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)), torch.ones(1, 4)
    chains = {name: torch.full((4, 4), -torch.inf) for name in ("0.weight", "2.weight")}
    for score in chains.values():
        score.fill_diagonal_(1.0)
    assert [
        (live_selection(chains, n, net, x).count, live_selection(chains, n, net, x).exact)
        for n in (1, 4, 5, 8, 9)
    ] == [
        (0, False),
        (4, True),
        (4, False),
        (8, True),
        (8, False),
    ]
    assert live_selection(chains, 9, net, x).largest == 8
    with pytest.raises(BudgetError, match="found -1"):
        live_selection(chains, -1, net, x)
    with pytest.raises(ModelError, match="NaN"):
        live_selection({"0.weight": torch.full((4, 4), torch.nan)}, 1, net, x)


def test_a_strong_chain_is_completed_rather_than_dropped() -> None:
    """Two strong connections hang on a weak third one; asked for three, the chain is kept whole."""
    net, x = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)), torch.ones(1, 2)
    scores = {f"{i}.weight": torch.zeros(2, 2) for i in range(3)}
    scores["0.weight"][0, 0], scores["2.weight"][1, 1], scores["1.weight"][1, 0] = 9, 8, 0.5
    scores["1.weight"][0, 0] = 1
    chosen = live_selection(scores, 3, net, x)
    assert chosen.exact and chosen.masks["1.weight"].tolist() == [[False, False], [True, False]]


def test_a_deep_network_with_a_tiny_budget() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(*[nn.Linear(16, 16, bias=False) for _ in range(10)])
    for count in (10, 11, 40):
        chosen = live_selection(magnitudes(net), count, net, torch.ones(1, 16))
        assert chosen.exact and trace(net, torch.ones(1, 16), chosen.masks).live == count


class Residual(nn.Module):
    """Convolutions of different costs around a shortcut, then a head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.first, self.second = nn.Conv2d(16, 16, 3, padding=1), nn.Conv2d(16, 16, 3, padding=1)
        self.head = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x).relu()
        return self.head((x + self.second(self.first(x).relu())).relu().mean((2, 3)))


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02, 0.005])
@pytest.mark.parametrize("uneven", [False, True])
def test_macs_are_spent_on_live_connections_with_few_traces(share: float, uneven: bool) -> None:
    torch.manual_seed(0)
    net, x = Residual(), torch.zeros(1, 3, 8, 8)
    uses = {name: weight.uses for name, weight in trace(net, x).weights.items()}
    scores = magnitudes(net)
    if uneven:  # channels of very different sizes: many connections lead nowhere
        scores = {n: s * torch.randn(len(s), *[1] * (s.ndim - 1)).exp() ** 3 for n, s in scores.items()}
    asked = round(share * trace(net, x).macs_dense)
    begin = round(share * 5_000)
    chosen = live_selection(scores, asked, net, x, costs=uses, begin=begin, most_traces=60)
    found = trace(net, x, chosen.masks)
    assert found.kept == found.live and found.macs == chosen.count <= asked
    assert chosen.count > 0.99 * asked
    assert chosen.traces <= 90  # a bisection over counts, each with a search of its own, took 126


@pytest.mark.parametrize("seed", range(4))
def test_connections_of_one_cost_are_chosen_like_a_number_of_them(seed: int) -> None:
    torch.manual_seed(seed)
    net, x = GCN(21, 12, 5, dense=8), torch.randn(1, 21, 12)
    scores = magnitudes(net)
    by_count = live_selection(scores, 300, net, x)
    twice = {name: torch.full(score.shape, 2) for name, score in scores.items()}
    by_cost = live_selection(scores, 600, net, x, costs=twice, begin=300)
    assert by_count.exact and by_cost.exact
    shared = sum(int((by_count.masks[n] & by_cost.masks[n]).sum()) for n in scores)
    assert shared >= 270
