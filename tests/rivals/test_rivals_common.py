"""What all rivals owe: the exact budget, plain nets back, masks that hold, states that resume,
errors that speak.
"""

import copy
import dataclasses
import re
import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrize

from bandstop import rivals
from bandstop.engine.trace import trace
from bandstop.errors import BudgetError, ConfigError, ModelError
from bandstop.method.budget import Budget, sparse_bytes
from bandstop.nets.gcn import GCN
from bandstop.nets.lstm import LSTMRecogniser
from tests.rivals.rival_training import NoiseLoss, Training, kept_weights, mlp

torch.set_num_threads(1)
NAMES = [name for name in rivals.NAMES if name != "small-dense"]
DENSE_WEIGHTS = 8 * 16 + 16 * 6


class Tied(nn.Module):
    """An auto-encoder whose two halves are one weight, and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up, self.classes = nn.Linear(9, 9), nn.Linear(9, 9), nn.Linear(9, 4)
        self.up.weight = self.down.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.classes(torch.relu(self.up(torch.relu(self.down(x)))))
        return scores


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=4, deadline=None)
@given(st.floats(0.0, 0.97), st.integers(1, 25), st.integers(0, 10**6))
def test_exactly_the_budget_for_any_net_rate_and_length(
    name: str, rate: float, steps: int, seed: int
) -> None:
    torch.manual_seed(seed)
    net = mlp(8, 16, 6)
    training = Training(name, net, rate, NoiseLoss(net, 16, 8), steps, example=torch.randn(1, 8)).run()
    assert training.method.finalize() is net
    assert kept_weights(net) == round((1 - rate) * DENSE_WEIGHTS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["gcn", "lstm", "tied"])
def test_exactly_the_budget_for_the_nets_of_the_package(name: str, kind: str) -> None:
    torch.manual_seed(0)
    shape: tuple[int, ...]
    if kind == "gcn":
        edges = torch.tensor([[0, 1], [1, 2], [2, 3]])
        net, shape = (
            GCN(5, 12, 4, channels=4, heads=3, filters=6, dense=8, edges=edges, dropout=0.2),
            (12, 5, 12),
        )
    elif kind == "lstm":
        net, shape = LSTMRecogniser(4, 12, 5, hidden=6, layers=2), (12, 4, 12)
    else:
        net, shape = Tied(), (12, 9)
    before = dict(net.named_parameters())
    total = sum(p.numel() for p in net.parameters() if p.ndim >= 2)
    training = Training(
        name, net, Budget.weights(total // 12), NoiseLoss(net, *shape), 12, example=torch.randn(1, *shape[1:])
    )
    training.run().method.finalize()
    assert kept_weights(net) == total // 12
    after = dict(net.named_parameters())
    assert set(after) == set(before) and all(after[n] is before[n] for n in after), (
        "the same parameter objects"
    )
    assert not any(parametrize.is_parametrized(m) for m in net.modules())
    assert not [b for b in dict(net.named_buffers()) if "keep" in b]
    copy.deepcopy(net)(torch.randn(*shape))


@pytest.mark.parametrize("name", NAMES)
def test_budgets_in_bytes_and_macs(name: str) -> None:
    net = mlp(8, 16, 6)
    unpruned = 16 + 6
    Training(
        name, net, Budget.bytes(400), NoiseLoss(net, 16, 8), 6, example=torch.randn(1, 8)
    ).run().method.finalize()
    assert 400 - 6 < sparse_bytes(kept_weights(net), unpruned) <= 400
    net = mlp(8, 16, 6)
    Training(
        name, net, Budget.macs(33), NoiseLoss(net, 16, 8), 6, example=torch.randn(1, 8)
    ).run().method.finalize()
    assert trace(net, torch.randn(1, 8)).macs == 33


@pytest.mark.parametrize("name", NAMES)
def test_a_resumed_training_is_the_uninterrupted_one(name: str) -> None:
    def start(seed: int) -> Training:
        torch.manual_seed(seed)
        net = mlp(8, 16, 6)
        return Training(name, net, 0.8, NoiseLoss(net, 16, 8, seed=9), 30, example=torch.ones(1, 8))

    whole, first = start(5).run(), start(5).run(13)
    second = start(77)  # a resumed process has drawn other numbers before it loads
    second.method.load_state_dict(copy.deepcopy(first.method.state_dict()))
    second.net.load_state_dict(first.net.state_dict())
    second.optimiser.load_state_dict(copy.deepcopy(first.optimiser.state_dict()))
    second.loss.generator = first.loss.generator
    second.run(17)
    assert all(torch.equal(mask, second.masks()[n]) for n, mask in whole.masks().items())
    whole.method.finalize(), second.method.finalize()
    assert all(
        torch.equal(a, b) for a, b in zip(whole.net.parameters(), second.net.parameters(), strict=True)
    )


@pytest.mark.parametrize("name", NAMES)
def test_one_seed_decides_everything(name: str) -> None:
    def weights(seed: int) -> list[torch.Tensor]:
        torch.manual_seed(seed)
        net = mlp(8, 16, 6)
        Training(name, net, 0.8, NoiseLoss(net, 16, 8), 12, example=torch.ones(1, 8)).run().method.finalize()
        return [p.detach() for p in net.parameters()]

    assert all(torch.equal(a, b) for a, b in zip(weights(1), weights(1), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(weights(1), weights(2), strict=True))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("optimiser", ["momentum", "adamw"])
def test_momentum_and_decay_do_not_bring_dropped_weights_back(name: str, optimiser: str) -> None:
    torch.manual_seed(1)
    net = mlp(8, 16, 6)
    kind = (
        (lambda g, lr: torch.optim.SGD(g, lr=lr, momentum=0.9))
        if optimiser == "momentum"
        else torch.optim.AdamW
    )
    training = Training(
        name, net, 0.9, NoiseLoss(net, 16, 8), 40, example=torch.ones(1, 8), optimiser=kind
    ).run(36)
    if not training.method.settled:  # these never fix their masks by themselves
        training.method.freeze(training.method.final_masks())
    masks = training.masks()
    for _ in range(4):
        training.step()
        with torch.no_grad():
            for layer in training.method.layers:
                weight = training.method.band(layer)(layer.latent)
                assert torch.equal(weight != 0, masks[layer.name] & (weight != 0))
        assert all(torch.equal(mask, training.masks()[n]) for n, mask in masks.items())
    assert training.method.kept == sum(int(m.sum()) for m in masks.values()) == round(0.1 * DENSE_WEIGHTS)
    assert training.method.rate == pytest.approx(0.9, abs=0.002)


@pytest.mark.parametrize("name", list(rivals.NAMES))
def test_the_optimiser_gets_every_parameter_once(name: str) -> None:
    net = mlp(8, 16, 6)
    method = rivals.make(name, net, 0.8, steps=10, example=torch.ones(1, 8))
    given_ = [
        id(p)
        for group in method.parameter_groups(0.1, latent_lr=9.0, weight_decay=0.3)
        for p in group["params"]
    ]
    assert sorted(given_) == sorted(id(p) for p in net.parameters())
    snapshot = method.snapshot()
    assert set(snapshot["layers"]) == {"0.weight", "2.weight"}
    for row in snapshot["layers"].values():
        assert set(row) == {"threshold", "gain"}


def test_names_have_one_sentence_and_settings_have_ranges() -> None:
    for name, words in rivals.NAMES.items():
        assert re.fullmatch(r"[A-Z].*\.", words) and (
            name == "small-dense" or re.search(r"(19|20)\d\d", words)
        ), name
        assert dataclasses.is_dataclass(rivals.published(name))
        with pytest.raises(dataclasses.FrozenInstanceError):
            rivals.published(name).floor = 3  # type: ignore[misc]


def test_settings_are_overridden_by_name_and_checked() -> None:
    net = mlp(8, 16, 6)
    method = rivals.make("rigl", net, 0.8, steps=10, settings={"drop": "0.5", "every": 7.0})
    assert (method.settings.drop, method.settings.every, method.settings.end) == (0.5, 7, 0.75)
    assert not rivals.make("mp", mlp(8, 16, 6), 0.8, steps=10, settings={"restart": 0.0}).settings.restart
    cases = [
        ({"drop": 1.5}, r"drop must be in \[0.0, 1.0\], found 1.5"),
        ({"every": 2.5}, "rigl's every must be a whole number, found 2.5"),
        ({"every": "often"}, "rigl's every must be a whole number, found 'often'"),
        ({"allocation": "fair"}, "allocation must be one of learned, uniform, erk, lamp"),
        ({"droop": 0.5}, "rigl has no setting 'droop'; it has: allocation, drop, end"),
    ]
    for changes, words in cases:
        with pytest.raises(ConfigError, match=words):
            rivals.make("rigl", mlp(8, 16, 6), 0.8, steps=10, settings=changes)
    with pytest.raises(ConfigError, match="mp's restart must be true or false, found 'perhaps'"):
        rivals.make("mp", mlp(8, 16, 6), 0.8, steps=10, settings={"restart": "perhaps"})
    with pytest.raises(ConfigError, match="begin must come before end"):
        rivals.make("gmp", mlp(8, 16, 6), 0.8, steps=10, settings={"begin": 0.8, "end": 0.5})


def test_refusals() -> None:
    with pytest.raises(ConfigError, match="no method 'pmp2'; choose one of small-dense, random-erk, mp"):
        rivals.make("pmp2", mlp(2, 2), 0.5, steps=1)
    with pytest.raises(BudgetError, match="2 are needed"):
        rivals.make("gmp", mlp(8, 16, 6), Budget.weights(1), steps=1)
    with pytest.raises(ConfigError, match="steps"):
        rivals.make("gmp", mlp(8, 16, 6), 0.5, steps=0)
    broken = mlp(8, 16, 6)
    with torch.no_grad():
        broken[0].weight[0, 0] = torch.nan
    with pytest.raises(ModelError, match=r"layer 0\.weight holds values that are not finite"):
        rivals.make("gmp", broken, 0.5, steps=1)
    with pytest.raises(BudgetError, match="give example="):
        rivals.make("gmp", mlp(8, 16, 6), Budget.macs(40), steps=1)
    net = mlp(8, 16, 6)
    rivals.make("gmp", net, 0.5, steps=1)
    with pytest.raises(ModelError, match="parametrised already"):
        rivals.make("gmp", net, 0.5, steps=1)


def test_names_and_descriptions_need_no_torch() -> None:
    code = (
        "import sys; from bandstop import rivals; sys.exit('torch' in sys.modules or len(rivals.NAMES) < 18)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_loop_may_call_every_verb_of_every_rival(name: str) -> None:
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    method = rivals.make(name, net, 0.5, steps=4, example=torch.ones(1, 6))
    method.bind(torch.optim.Adam(method.parameter_groups(lr=1e-3)))
    method.prepare(lambda: net(torch.ones(2, 6)).square().mean())
    assert 0 <= method.lr_progress(0.25) <= 1
    assert method.kl() is None
