"""The engine beside optimisers, copies, checkpoints and unusual layers; what it refuses."""

import copy
from dataclasses import replace

import pytest
import torch
from torch import nn

from bandstop import Budget, Pruner, Recipe
from bandstop.errors import BandstopError, BudgetError, ConfigError, ModelError
from bandstop.method.priors import Laplace
from bandstop.method.schedules import Constant
from tests.engine.small_nets import kept, mlp, train


def test_no_layer_is_emptied_unless_allowed() -> None:
    model = mlp()
    with torch.no_grad():
        model[3].weight.mul_(1e-6)
    recipe = Recipe(allocation="learned", start="scale")
    pruner = Pruner(model, Budget.weights(5), steps=3, recipe=recipe)
    assert all(int(p.count_nonzero()) >= 1 for p in pruner.finalize().parameters() if p.ndim == 2)
    with pytest.raises(BudgetError, match="smallest possible is 3 weights"):
        Pruner(mlp(), Budget.weights(2), steps=3)
    pruner = Pruner(mlp(), Budget.weights(2), steps=3, recipe=Recipe(floor=0, allocation="learned"))
    assert kept(pruner.finalize()) == 2


def test_a_refused_budget_leaves_the_model_untouched() -> None:
    model = mlp()
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(BudgetError):
        Pruner(model, Budget.weights(1), steps=3)
    assert before.keys() == model.state_dict().keys()
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())


def test_same_seed_same_network() -> None:
    states = []
    for _ in range(2):
        model = mlp()
        pruner = Pruner(model, 0.9, steps=20)
        train(model, pruner, 20)
        states.append(pruner.finalize().state_dict())
    assert all(torch.equal(states[0][k], states[1][k]) for k in states[0])


def test_an_optimiser_built_before_keeps_working() -> None:
    model = mlp()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    pruner = Pruner(model, 0.9, steps=10)
    before = pruner.layers[0].latent.clone()
    model(torch.randn(8, 12)).square().mean().backward()
    optimiser.step()
    assert not torch.equal(before, pruner.layers[0].latent)
    held = {id(p) for group in optimiser.param_groups for p in group["params"]}
    plain = pruner.finalize()
    assert {id(p) for p in plain.parameters()} <= held


def test_momentum_does_not_revive_frozen_weights() -> None:
    model = mlp()
    pruner = Pruner(model, 0.9, steps=100)
    train(model, pruner, 10)
    pruner.freeze()
    zeros = model[0].weight == 0
    train(model, pruner, 10)
    assert torch.equal(zeros, model[0].weight == 0)


def test_a_dropped_connection_can_return() -> None:
    model = mlp()
    pruner = Pruner(model, 0.8, steps=200, recipe=Recipe(ramp=Constant(1.0), freeze=1.0))
    stopped = model[0].weight == 0
    train(model, pruner, 60)
    assert bool((stopped & (model[0].weight != 0)).any())


def test_deepcopy_while_attached() -> None:
    model = mlp()
    pruner = Pruner(model, 0.9, steps=10)
    train(model, pruner, 5)
    twin = copy.deepcopy(model).eval()
    x = torch.randn(3, 12)
    assert torch.equal(twin(x), model.eval()(x))


def test_tied_weights_share_one_latent() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(20, 8)
            self.out = nn.Linear(8, 20, bias=False)
            self.out.weight = self.embed.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.out(self.embed(x))

    model = Tied()
    pruner = Pruner(model, 0.9, steps=10)
    assert len(pruner.layers) == 1
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=0.1))
    for _ in range(10):
        optimiser.zero_grad()
        model(torch.arange(20)).square().mean().backward()
        optimiser.step()
        pruner.step()
    assert torch.equal(model.embed.weight, model.out.weight)
    pruner.finalize()
    assert model.embed.weight is model.out.weight
    assert int(model.out.weight.count_nonzero()) == 16


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_layers_see_the_gate(kind: type[nn.RNNBase]) -> None:
    class Last(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = kind(4, 6, batch_first=True)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.rnn(x)[0][:, -1]

    torch.manual_seed(0)
    model = Last()
    x = torch.randn(5, 7, 4)
    dense = model(x)
    pruner = Pruner(model, 0.9, steps=10, recipe=Recipe(ramp=Constant(1.0)))
    gated = model(x)
    assert not torch.allclose(dense, gated)
    gated.square().sum().backward()
    assert pruner.layers[0].latent.grad is not None
    pruner.freeze()
    before = model(x)
    pruner.finalize()
    assert torch.allclose(model(x), before, atol=1e-6)
    assert "_bandstop_refresh" not in vars(model.rnn)


def test_layers_by_pattern_and_predicate() -> None:
    model = mlp()
    pruner = Pruner(model, 0.5, steps=2, layers=["0.*ight"])
    assert [layer.name for layer in pruner.layers] == ["0.weight"]
    pruner.finalize()
    assert kept(model) == 144 + 24 * 16 + 16 * 5
    with pytest.raises(ModelError, match=r"'nope'.*0\.weight"):
        Pruner(model, 0.5, steps=2, layers=["nope"])
    pruner = Pruner(model, 0.5, steps=2, layers=lambda name, p: name == "5.weight")
    assert pruner.bound.prunable == 80


def test_attaching_twice_is_refused() -> None:
    model = mlp()
    Pruner(model, 0.5, steps=2)
    with pytest.raises(ModelError, match="finalize"):
        Pruner(model, 0.5, steps=2)


def test_a_model_with_nothing_to_prune() -> None:
    with pytest.raises(ModelError, match="no weight"):
        Pruner(nn.LayerNorm(4), 0.5, steps=2)


def test_infinite_weights_are_named() -> None:
    model = mlp()
    with torch.no_grad():
        model[3].weight[0, 0] = torch.inf
    with pytest.raises(ModelError, match=r"3\.weight"):
        Pruner(model, 0.5, steps=2)


def test_bad_steps() -> None:
    with pytest.raises(ConfigError, match="steps"):
        Pruner(mlp(), 0.5, steps=0)


@pytest.mark.parametrize("stop", [6, 18])
def test_resume_in_mid_schedule(stop: int) -> None:
    """Stopped before or after the mask is fixed, a resumed training ends with the same bits."""

    def make() -> tuple[nn.Module, Pruner, torch.optim.Optimizer]:
        model = mlp()
        pruner = Pruner(model, 0.9, steps=20, recipe=Recipe(kl=Constant(0.1)))
        return model, pruner, torch.optim.Adam(pruner.parameter_groups(lr=1e-2, latent_lr=5e-2))

    x, y = torch.randn(64, 12), torch.randint(5, (64,))

    def advance(model: nn.Module, pruner: Pruner, optimiser: torch.optim.Optimizer, steps: int) -> None:
        for _ in range(steps):
            loss = nn.functional.cross_entropy(model(x), y) + pruner.penalty()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            pruner.step()

    first = make()
    advance(*first, stop)
    saved = copy.deepcopy((first[0].state_dict(), first[1].state_dict(), first[2].state_dict()))
    advance(*first, 20 - stop)
    second = make()
    second[1].load_state_dict(saved[1])
    second[0].load_state_dict(saved[0])
    second[2].load_state_dict(saved[2])
    advance(*second, 20 - stop)
    one, two = first[1].finalize().state_dict(), second[1].finalize().state_dict()
    assert all(torch.equal(one[k], two[k]) for k in one)


def test_kl_pulls_the_latents_to_the_prior() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(60, 60))
    far = replace(Recipe.paper(Laplace(1.0)), start="scale")
    pruner = Pruner(model, 0.5, steps=400, recipe=far)
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=2e-2))
    first = pruner.kl() or 0.0
    for _ in range(150):
        optimiser.zero_grad()
        pruner.penalty().backward()
        optimiser.step()
        pruner.step()
    assert (pruner.kl() or 9.0) < 0.3 * first


def test_a_layer_that_starts_at_zero_can_learn() -> None:
    model = mlp()
    nn.init.zeros_(model[5].weight)
    pruner = Pruner(model, 0.5, steps=50, recipe=Recipe(gain="fixed"))
    train(model, pruner, 50)
    assert float(pruner.finalize()[5].weight.detach().abs().max()) > 0.05  # type: ignore[index]


def test_what_is_refused_leaves_the_model_untouched() -> None:
    model = mlp()
    bad = [
        ({"recipe": Recipe(allocation="given", densities=(("nope", 1.0),))}, "nope"),
        ({"example": torch.zeros(1, 7)}, "example"),
        ({"recipe": Recipe(live=True)}, "example="),
    ]
    for arguments, found in bad:
        with pytest.raises(BandstopError, match=found):
            Pruner(model, 0.5, steps=9, **arguments)  # type: ignore[arg-type]
        assert not any("parametrizations" in name for name in model.state_dict())
    with pytest.raises(BudgetError, match="largest possible is 752"):
        Pruner(model, Budget.weights(10**6), steps=9)
    with pytest.raises(ConfigError, match="freeze"):
        Recipe(live=True, freeze=1.0)


def test_finalizing_twice_is_refused() -> None:
    pruner = Pruner(mlp(), 0.5, steps=9)
    pruner.finalize()
    with pytest.raises(ConfigError, match="finalized already"):
        pruner.finalize()


def test_gains_stay_positive() -> None:
    """A gain that crosses zero turns its layer's sign around:
    seen as a collapse in the middle of training.
    """
    model = mlp()
    pruner = Pruner(model, 0.5, steps=400)
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=0.1))
    for _ in range(100):
        loss = model(torch.randn(32, 12)).square().sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        pruner.step()
    assert all(float(layer.band.gain.detach()) > 0 for layer in pruner.layers if layer.band)
