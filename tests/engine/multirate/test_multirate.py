"""One training, any budget: a sweep through all rates, exact budgets, plain copies."""

import copy
import warnings
from dataclasses import replace

import pytest
import torch
from torch import nn

from bandstop import Budget, Pruner, Recipe, trace
from bandstop.engine.multirate.batchnorm import recalibrate
from bandstop.engine.multirate.pruner import MultiRatePruner
from bandstop.errors import BandstopWarning, BudgetError, ConfigError, DivergenceError

RATES = (0.5, 0.61, 0.8, 0.9, 0.935, 0.95, 0.97, 0.98)
INPUTS = torch.randn(64, 12, generator=torch.Generator().manual_seed(1))


def small_net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(12, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 4)
    )


def batches(count: int = 4) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(32, 12, generator=generator) for _ in range(count)]


def begun(
    steps: int = 60, *, example: bool = True, **more: object
) -> tuple[MultiRatePruner, torch.optim.Optimizer]:
    model, more = small_net(), {"recipe": Recipe.empirical(), **more}
    pruner = MultiRatePruner(model, (0.5, 0.98), steps=steps, example=INPUTS[:1] if example else None, **more)
    return pruner, torch.optim.Adam(pruner.parameter_groups(3e-3))


def train(pruner: MultiRatePruner, optimiser: torch.optim.Optimizer, steps: int) -> None:
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.cross_entropy(pruner.model(INPUTS), INPUTS[:, :4].argmax(1)).backward()
        optimiser.step()
        pruner.step()


def trained(steps: int = 60, **more: object) -> MultiRatePruner:
    pruner, optimiser = begun(steps, **more)
    train(pruner, optimiser, steps)
    return pruner


def test_the_rate_sweeps_over_the_range() -> None:
    pruner, optimiser = begun(100)
    rates = []
    for _ in range(100):
        train(pruner, optimiser, 1)
        rates.append(pruner.rate)
    assert rates == sorted(rates)
    assert rates[29] == pytest.approx(0.5, abs=0.05) and rates[-1] == pytest.approx(0.98, abs=1e-3)
    halfway = (0.5 * 0.02) ** 0.5  # of what is kept: equal ratios in equal times
    assert 1 - rates[round(100 * (0.3 + 0.95) / 2)] == pytest.approx(halfway, rel=0.2)


def test_latents_are_held_unless_the_network_was_trained() -> None:
    assert MultiRatePruner(small_net(), (0.5, 0.9), steps=9).recipe.rule == "held"
    model = small_net()
    with torch.no_grad():
        model[1].bias.add_(torch.randn(24))  # a training moves the channels of a normalisation apart
    assert MultiRatePruner(model, (0.5, 0.9), steps=9).recipe.rule == "empirical"


def test_at_each_moment_it_is_the_training_for_one_rate() -> None:
    """The pruner itself with the sweep as its ramp: the same bits."""
    swept, one = begun(40, example=False)
    model = small_net()
    recipe = replace(Recipe.empirical(), ramp=swept.recipe.ramp, freeze=1.0, live=False)
    alone = Pruner(model, 0.98, steps=40, recipe=recipe)
    other = torch.optim.Adam(alone.parameter_groups(3e-3))
    train(swept, one, 40)
    train(alone, other, 40)  # type: ignore[arg-type]
    for name, value in model.state_dict().items():
        assert torch.equal(value, swept.model.state_dict()[name]), name


@pytest.mark.parametrize("allocation", ["lamp", "learned", "erk", "uniform", "adapted"])
def test_masks_are_exact(allocation: str) -> None:
    pruner = trained(recipe=Recipe(allocation=allocation), example=False)
    for rate in RATES:
        kept = sum(int(mask.sum()) for mask in pruner.masks(rate).values())
        assert kept == Budget.rate(rate).connections(prunable=pruner.bound.prunable)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("recipe", [Recipe.empirical(), Recipe.held()])
def test_extracts_exactly_and_only_live_connections(rate: float, recipe: Recipe) -> None:
    model = trained(recipe=recipe).extract(rate, batches())
    found = trace(model, torch.zeros(1, 12))
    assert found.kept == found.live == Budget.rate(rate).connections(prunable=found.total)
    assert not any("parametrizations" in name for name in model.state_dict())
    assert set(model.state_dict()) == set(small_net().state_dict())
    small_net().load_state_dict(model.state_dict())


def test_extraction_leaves_the_training_as_it_was() -> None:
    pruner = trained()
    before = copy.deepcopy(pruner.model.state_dict())
    first = pruner.extract(0.9, batches())
    pruner.extract(0.6, batches())
    second = pruner.extract(0.9, batches())
    assert all(torch.equal(value, before[name]) for name, value in pruner.model.state_dict().items())
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    pruner.model(batches()[0])  # still gated


def test_without_averaging_the_highest_rate_is_the_network_at_the_end() -> None:
    pruner = trained(example=False, average=0.0)
    plain, gated = pruner.extract(0.98, batches()), pruner.model
    recalibrate(gated, batches())
    torch.testing.assert_close(plain(batches()[0]), gated(batches()[0]), atol=1e-5, rtol=1e-4)


def test_a_rate_is_the_network_of_the_moment_when_the_sweep_passed_it() -> None:
    pruner, optimiser = begun(80, example=False, average=0.0, waypoints=1)
    while not pruner.waypoints.found:
        train(pruner, optimiser, 1)
    now, low = copy.deepcopy(pruner.model), float(pruner.rate)
    train(pruner, optimiser, 80 - pruner.taken)
    assert low == pytest.approx(0.5, abs=0.05)
    recalibrate(now, batches())
    assert now[3].weight.count_nonzero() > 0
    plain = pruner.extract(0.5, batches())
    torch.testing.assert_close(plain[0].bias, now[0].bias)
    torch.testing.assert_close(plain(batches()[0]), now(batches()[0]), atol=0.1, rtol=0.1)


def test_gains_biases_and_normalisations_are_those_of_the_rate() -> None:
    pruner = trained(recipe=Recipe(gain="learned"))
    low, high = pruner.extract(0.5, batches()), pruner.extract(0.98, batches())
    assert not torch.equal(low[1].weight, high[1].weight) and not torch.equal(low[0].bias, high[0].bias)
    gains = [pruner.described(rate)["0.weight"]["gain"] for rate in (0.5, 0.98)]
    assert gains[0] != gains[1]


def test_other_budgets_than_rates() -> None:
    pruner = trained()
    assert trace(pruner.extract(Budget.weights(100), batches()), torch.zeros(1, 12)).kept == 100
    assert trace(pruner.extract(Budget.macs(120), batches()), torch.zeros(1, 12)).macs_live <= 120


def test_statistics_are_those_of_the_extracted_rate() -> None:
    model = trained().extract(0.9, batches())
    hidden = model[0](torch.cat(batches()))
    torch.testing.assert_close(model[1].running_mean, hidden.mean(0), atol=1e-5, rtol=1e-4)
    assert not model.training and model[1].momentum == 0.1


def test_what_cannot_be_is_refused() -> None:
    pruner = trained()
    with pytest.raises(ConfigError, match="batch normalisation"):
        pruner.extract(0.9)
    for rate in (0.3, 0.99):
        with pytest.raises(BudgetError, match=r"from 0\.5 to 0\.98"):
            pruner.extract(rate, batches())
    with pytest.raises(ConfigError, match="lowest < highest"):
        MultiRatePruner(small_net(), (0.9, 0.5), steps=1)
    with pytest.raises(ConfigError, match="keep to their rates"):
        MultiRatePruner(small_net(), (0.5, 0.9), steps=1, recipe=Recipe.paper())
    with pytest.raises(ConfigError, match="exact counts"):
        MultiRatePruner(small_net(), (0.5, 0.9), steps=1, recipe=Recipe(count="passing"))
    with pytest.raises(ConfigError, match="at least one batch"):
        pruner.extract(0.9, [])
    for wrong in ({"begin": 0.9, "end": 0.5}, {"begin": -1.0}, {"waypoints": 0}, {"average": -0.1}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            begun(**wrong)


def test_a_network_that_diverged_is_not_extracted() -> None:
    pruner = trained()
    for found in pruner.waypoints.found:
        found["0.parametrizations.weight.original"].fill_(float("nan"))
    with pytest.raises(DivergenceError, match=r"0\.weight"):
        pruner.extract(0.9, batches())


def test_a_rate_that_the_training_has_not_come_to_is_extracted_with_a_warning() -> None:
    pruner, optimiser = begun(60)
    train(pruner, optimiser, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pruner.extract(0.5, batches())
    with pytest.warns(BandstopWarning, match="before the training had come to it"):
        model = pruner.extract(0.98, batches())
    assert trace(model, INPUTS[:1]).kept == Budget.rate(0.98).connections(prunable=pruner.bound.prunable)


@pytest.mark.parametrize("stop", [10, 30, 59])
def test_resumed_bit_for_bit(stop: int) -> None:
    first, optimiser = begun()
    train(first, optimiser, stop)
    saved = copy.deepcopy((first.state_dict(), first.model.state_dict(), optimiser.state_dict()))
    train(first, optimiser, 60 - stop)
    second, again = begun()
    second.load_state_dict(saved[0])
    second.model.load_state_dict(saved[1])
    again.load_state_dict(saved[2])
    train(second, again, 60 - stop)
    for rate in RATES:
        one, two = first.extract(rate, batches()), second.extract(rate, batches())
        assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_states_of_other_pruners_are_refused() -> None:
    pruner = trained()
    state = pruner.state_dict()
    with pytest.raises(ConfigError, match="keeps 3"):
        begun(waypoints=2)[0].load_state_dict(state)
    del state["waypoints"]
    with pytest.raises(ConfigError, match="earlier version"):
        begun()[0].load_state_dict(state)


def test_recurrent_layers() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(6, 8, batch_first=True)
            self.head = nn.Linear(8, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.lstm(x)[0][:, -1])

    model, inputs = Net(), torch.randn(4, 5, 6)
    pruner = MultiRatePruner(model, (0.2, 0.9), steps=8, example=inputs[:1])
    optimiser = torch.optim.Adam(pruner.parameter_groups(1e-2))
    for _ in range(8):
        optimiser.zero_grad()
        model(inputs).square().mean().backward()
        optimiser.step()
        pruner.step()
    plain = pruner.extract(0.7)
    found = trace(plain, inputs[:1])
    assert found.kept == found.live == Budget.rate(0.7).connections(prunable=found.total)
    assert type(plain.lstm) is nn.LSTM and plain(inputs).shape == (4, 3)
    model(inputs)
