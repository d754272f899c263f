"""One training, any budget: nested masks, exact budgets, plain copies."""

import copy

import pytest
import torch
from torch import nn

from bandstop import Budget, Recipe, trace
from bandstop.engine.multirate.batchnorm import recalibrate
from bandstop.engine.multirate.pruner import MultiRatePruner
from bandstop.errors import BudgetError, ConfigError

RATES = (0.5, 0.61, 0.8, 0.9, 0.935, 0.95, 0.97, 0.98)


def small_net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(12, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 4)
    )


def batches(count: int = 4) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(32, 12, generator=generator) for _ in range(count)]


def trained(*, passes: int = 3, steps: int = 30, example: bool = True, **more: object) -> MultiRatePruner:
    model = small_net()
    inputs = torch.randn(64, 12, generator=torch.Generator().manual_seed(1))
    labels = inputs[:, :4].argmax(1)
    pruner = MultiRatePruner(
        model, (0.5, 0.98), steps=steps, passes=passes, example=inputs[:1] if example else None, **more
    )
    optimiser = torch.optim.Adam(pruner.parameter_groups(1e-2))
    for _ in range(steps):
        optimiser.zero_grad()
        for _ in pruner.passes():
            nn.functional.cross_entropy(model(inputs), labels).backward()
        optimiser.step()
        pruner.step()
    return pruner


@pytest.mark.parametrize("allocation", ["lamp", "learned", "erk", "uniform"])
def test_masks_of_all_rates_are_nested_and_exact(allocation: str) -> None:
    pruner = trained(recipe=Recipe(allocation=allocation), example=False)
    previous = None
    for rate in RATES:
        masks = pruner.masks(rate)
        kept = sum(int(mask.sum()) for mask in masks.values())
        assert kept == Budget.rate(rate).connections(prunable=pruner.bound.prunable)
        if previous is not None:
            assert all(bool((previous[name] | ~mask).all()) for name, mask in masks.items())
        previous = masks


def test_the_highest_pass_is_at_the_rate_that_the_highest_budget_is_taken_from() -> None:
    pruner = trained()
    assert pruner.settled and 0.5 <= pruner.span.top < 0.98  # at 98 % some of so few connections are dead
    assert list(pruner.passes())[-1] == pruner.span.top
    assert all(0.5 <= pruner.span.draw() <= pruner.span.top for _ in range(50))
    found = trace(pruner.model, pruner.example, pruner.masks(pruner.span.top))
    live = sum(weight.live_count for weight in found.weights.values())
    kept = Budget.rate(0.98).connections(prunable=pruner.bound.prunable)
    assert live <= kept < sum(int(mask.sum()) for mask in pruner.masks(pruner.span.top).values())


def test_without_an_example_the_highest_pass_stays_at_the_highest_rate() -> None:
    pruner = trained(example=False)
    assert pruner.settled and pruner.span.top == pytest.approx(0.98, abs=1e-3) and pruner.span.top <= 0.98


def test_the_gates_in_training_pass_the_nested_masks() -> None:
    pruner = trained(example=False)
    for rate in pruner.passes():
        masks = pruner.masks(rate)
        for layer in pruner.layers:
            assert torch.equal(layer.effective() != 0, masks[layer.name])


@pytest.mark.parametrize("rate", RATES)
def test_extracts_exactly_and_only_live_connections_at_rates_never_drawn(rate: float) -> None:
    pruner = trained()
    model = pruner.extract(rate, batches())
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


def test_an_extracted_net_computes_what_was_trained_at_its_rate() -> None:
    pruner = trained(example=False)
    plain = pruner.extract(0.9, batches())
    pruner._turn_to(0.9)
    gated = pruner.model
    recalibrate(gated, batches())
    torch.testing.assert_close(plain(batches()[0]), gated(batches()[0]), atol=1e-5, rtol=1e-5)


def test_gains_and_biases_follow_the_rate() -> None:
    pruner = trained(follow=True)
    assert not torch.equal(
        pruner.extract(0.5, batches())[1].weight, pruner.extract(0.98, batches())[1].weight
    )
    rigid = trained(follow=False)
    assert torch.equal(rigid.extract(0.5, batches())[1].weight, rigid.extract(0.98, batches())[1].weight)


def test_other_budgets_than_rates() -> None:
    pruner = trained()
    assert trace(pruner.extract(Budget.weights(100), batches()), torch.zeros(1, 12)).kept == 100
    assert trace(pruner.extract(Budget.macs(120), batches()), torch.zeros(1, 12)).macs_live <= 120


def test_statistics_are_those_of_the_extracted_rate() -> None:
    pruner = trained()
    model = pruner.extract(0.9, batches())
    inputs = torch.cat(batches())
    hidden = model[0](inputs)
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


def test_draws_cover_the_range_evenly_in_the_logarithm_of_what_is_kept() -> None:
    pruner = MultiRatePruner(nn.Linear(64, 64), (0.5, 0.995), steps=1, passes=1)
    places = torch.tensor([pruner.span.position(pruner.span.draw()) for _ in range(2000)])
    assert places.min() >= -1 and places.max() <= 1
    shares = torch.histc(places, 4, -1, 1) / 2000
    assert bool(((shares > 0.2) & (shares < 0.3)).all())


@pytest.mark.parametrize("passes", [1, 2, 3, 5])
def test_passes_start_at_the_least_pruned(passes: int) -> None:
    pruner = MultiRatePruner(nn.Linear(64, 64), (0.5, 0.9), steps=1, passes=passes)
    rates = list(pruner.passes())
    assert len(rates) == passes and rates == sorted(rates)
    if passes > 1:
        assert rates[0] == 0.5
    if passes > 2:
        assert rates[-1] == 0.9


def test_a_resumed_training_draws_the_same_rates() -> None:
    pruner = MultiRatePruner(nn.Linear(64, 64), (0.5, 0.9), steps=10)
    list(pruner.passes())
    state = pruner.state_dict()
    expected = list(pruner.passes())
    other = MultiRatePruner(nn.Linear(64, 64), (0.5, 0.9), steps=10, seed=5)
    other.load_state_dict(state)
    assert list(other.passes()) == expected


def test_recurrent_layers() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(6, 8, batch_first=True)
            self.head = nn.Linear(8, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.lstm(x)[0][:, -1])

    model, inputs = Net(), torch.randn(4, 5, 6)
    pruner = MultiRatePruner(model, (0.2, 0.9), steps=4, example=inputs[:1])
    optimiser = torch.optim.Adam(pruner.parameter_groups(1e-2))
    for _ in range(4):
        for _ in pruner.passes():
            model(inputs).square().mean().backward()
        optimiser.step()
        pruner.step()
    plain = pruner.extract(0.7)
    found = trace(plain, inputs[:1])
    assert found.kept == found.live == Budget.rate(0.7).connections(prunable=found.total)
    assert type(plain.lstm) is nn.LSTM and plain(inputs).shape == (4, 3)
    model(inputs)
