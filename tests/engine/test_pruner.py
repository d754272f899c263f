"""The engine on small networks: exact budgets, whatever the recipe."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import nn

from bandstop import Budget, Pruner, Recipe
from bandstop.errors import BudgetError, ConfigError
from bandstop.method.gate import Garrote, Hard, Logistic, Soft
from bandstop.method.priors import Gaussian, Laplace, Prior, Uniform
from bandstop.method.schedules import Constant
from tests.engine.small_nets import kept, mlp, train

RECIPES: dict[str, Callable[[], Recipe]] = {
    "default": Recipe.default,
    "paper": Recipe.paper,
    "hard gate": lambda: Recipe(gate=Hard()),
    "garrote": lambda: Recipe(gate=Garrote()),
    "never frozen": lambda: Recipe(freeze=1.0),
    "learned": lambda: Recipe(allocation="learned"),
    "erk": lambda: Recipe(allocation="erk"),
    "uniform": lambda: Recipe(allocation="uniform"),
    "logistic": lambda: Recipe(gate=Logistic()),
    "with KL": lambda: Recipe(kl=Constant(1.0), histogram="layer"),
    "scaled start": lambda: Recipe(start="scale"),
    "learned gains": lambda: Recipe(gain="learned"),
    "fixed gains": lambda: Recipe(gain="fixed"),
}


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@pytest.mark.parametrize("rate", [0.0, 0.5, 0.9, 0.98])
def test_exactly_the_asked_number_of_connections(recipe: Callable[[], Recipe], rate: float) -> None:
    model = mlp()
    pruner = Pruner(model, rate, steps=25, recipe=recipe())
    train(model, pruner, 25)
    plain = pruner.finalize()
    assert plain is model
    assert kept(plain) == round((1 - rate) * (12 * 24 + 24 * 16 + 16 * 5))
    assert not any("parametrizations" in name for name in plain.state_dict())
    assert type(plain[0]) is nn.Linear


@pytest.mark.parametrize("prior", [Laplace(1.0), Gaussian(1.0), Uniform(1.0)], ids=lambda p: type(p).__name__)
def test_any_prior(prior: Prior) -> None:
    model = mlp()
    pruner = Pruner(model, 0.9, steps=10, recipe=Recipe.default(prior))
    train(model, pruner, 10)
    assert kept(pruner.finalize()) == 75


def test_finalizing_early_is_exact_too() -> None:
    model = mlp()
    pruner = Pruner(model, Budget.weights(33), steps=100)
    train(model, pruner, 7)
    assert kept(pruner.finalize()) == 33


def test_the_network_does_not_change_when_training_ends() -> None:
    model = mlp()
    pruner = Pruner(model, 0.9, steps=20)
    train(model, pruner, 20)
    model.eval()
    x = torch.randn(9, 12)
    before = model(x)
    pruner.finalize()
    assert torch.allclose(model(x), before, atol=1e-5)


def test_freezing_does_not_change_the_function_of_an_exact_gate() -> None:
    model = mlp()
    recipe = Recipe(threshold="empirical", gate=Soft(), ramp=Constant(1.0), freeze=1.0, every=1)
    pruner = Pruner(model, 0.9, steps=100, recipe=recipe)
    train(model, pruner, 5)
    model.eval()
    x = torch.randn(9, 12)
    before = model(x)
    pruner.freeze()
    assert torch.allclose(model(x), before, atol=1e-5)


def test_budget_is_exact_at_every_update_of_an_exact_gate() -> None:
    model = mlp()
    pruner = Pruner(model, 0.9, steps=40)
    for _ in range(10):
        train(model, pruner, 4)
        used = sum(int((layer.owners[0][0].weight != 0).sum()) for layer in pruner.layers)
        assert used == pruner.kept


def test_live_connections_only() -> None:
    model = mlp()
    recipe = Recipe(live=True)
    pruner = Pruner(model, 0.95, steps=20, recipe=recipe, example=torch.zeros(1, 12))
    train(model, pruner, 20)
    from bandstop.engine.trace import trace

    traced = trace(pruner.finalize(), torch.zeros(1, 12))
    assert traced.kept == traced.live == round(0.05 * 752)


@pytest.mark.parametrize("macs", [40, 123, 500])
def test_a_budget_in_macs(macs: int) -> None:
    from bandstop.engine.trace import trace

    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv1d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 6, 4))
    recipe = Recipe(live=False)
    pruner = Pruner(model, Budget.macs(macs), steps=5, example=torch.zeros(1, 3, 8), recipe=recipe)
    for _ in range(5):
        pruner.step()
    assert trace(pruner.finalize(), torch.zeros(1, 3, 8)).macs == macs


def test_macs_need_an_example_and_a_possible_number() -> None:
    with pytest.raises(BudgetError, match="example"):
        Pruner(mlp(), Budget.macs(100), steps=5)
    with pytest.raises(BudgetError, match="smallest possible"):
        Pruner(mlp(), Budget.macs(2), steps=5, example=torch.zeros(1, 12))


def test_ties_are_broken_the_same_way_every_time() -> None:
    masks = []
    for _ in range(2):
        model = nn.Sequential(nn.Linear(10, 10, bias=False))
        with torch.no_grad():
            model[0].weight.fill_(1.0)
        pruner = Pruner(model, 0.9, steps=1, recipe=Recipe(start="scale"))
        masks.append(pruner.finalize()[0].weight != 0)  # type: ignore[index]
    assert torch.equal(masks[0], masks[1])
    assert masks[0].sum() == 10


def test_the_paper_s_threshold_is_the_prior_s_quantile() -> None:
    model = mlp()
    pruner = Pruner(model, 0.55, steps=10, recipe=Recipe.paper(Gaussian(1.0)))
    expected = Gaussian(1.0).magnitude_quantile(1 - pruner.bound.connections / pruner.bound.prunable)
    assert float(pruner.layers[0].band.threshold) == pytest.approx(expected, rel=1e-6)  # type: ignore[union-attr]


def test_a_prior_s_threshold_only_aims_at_the_budget_and_the_pruner_says_what_passes() -> None:
    model = mlp()
    pruner = Pruner(model, 0.9, steps=100, recipe=replace(Recipe.paper(), start="scale"))
    passing = sum(int((layer.latent.abs() > layer.band.threshold).sum()) for layer in pruner.layers)  # type: ignore[union-attr]
    assert pruner.kept == passing != 75


def test_on_request_whatever_passes_stays() -> None:
    counts = {}
    for count in ("exact", "passing"):
        torch.manual_seed(0)
        model = mlp()
        pruner = Pruner(model, 0.9, steps=5, recipe=replace(Recipe.paper(), start="scale", count=count))
        for _ in range(5):
            pruner.step()
        passing = pruner.kept
        plain = pruner.finalize()
        counts[count] = sum(int(p.count_nonzero()) for p in plain.parameters() if p.ndim == 2)
        assert pruner.kept == counts[count]
    assert counts == {"exact": 75, "passing": passing} and passing != 75
    with pytest.raises(ConfigError, match="exact count"):
        Recipe(live=True, count="passing")
    assert not Pruner(mlp(), 0.9, steps=5, recipe=Recipe(count="passing"), example=torch.zeros(1, 12)).live


def test_live_connections_within_a_budget_of_macs() -> None:
    from bandstop.engine.trace import trace

    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv1d(3, 8, 3), nn.ReLU(), nn.Conv1d(8, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 4)
    )
    example = torch.zeros(1, 3, 8)
    pruner = Pruner(model, Budget.macs(200), steps=5, example=example, recipe=Recipe(live=True))
    for _ in range(5):
        pruner.step()
    traced = trace(pruner.finalize(), example)
    assert traced.kept == traced.live
    assert 150 < traced.macs <= 200


@pytest.mark.parametrize("allocation", ["lamp", "learned"])
def test_a_layer_keeps_its_variance_as_connections_drop_out(allocation: str) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(300, 200, bias=False)
    before = float(layer.weight.detach().square().mean())
    recipe = Recipe(allocation=allocation, threshold="empirical", ramp=Constant(1.0))
    pruner = Pruner(layer, 0.97, steps=100, recipe=recipe)
    passing = layer.weight.detach()
    assert int(passing.count_nonzero()) == pruner.kept == 1800
    assert abs(float(passing.square().mean()) / before - 1) < 0.05


def test_the_histogram_of_a_snapshot_follows_latents_that_leave_the_prior() -> None:
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    pruner = Pruner(model, 0.9, steps=10, recipe=Recipe.empirical())
    near = pruner.snapshot()["histogram"]
    assert near["range"] == pruner.bins.limit
    with torch.no_grad():
        for layer in pruner.layers:
            layer.latent.mul_(20)
    for _ in range(4):
        pruner.step()
    far, layers = pruner.snapshot()["histogram"], pruner.snapshot()["layers"]
    assert far["range"] > max(row["threshold"] for row in layers.values()) > near["range"]
    assert sum(far["observed"]) == pytest.approx(1, abs=1e-3)
    assert max(far["prior"]) > 10 * max(far["observed"][:20]), "the prior stays where it was"
