"""A trained network starts as it is, a new one as the prior, and the outcome says which."""

import copy
from dataclasses import replace

import pytest
import torch
from torch import nn

from bandstop import Gaussian, MultiRatePruner, Pruner, Recipe
from bandstop.engine.start import choose_start, with_start
from tests.engine.small_nets import mlp, train


class Small(nn.Module):
    """A transformer of one layer."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 16, padding_idx=0)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.head(self.layer(self.table(x)).mean(1))
        return found


def learned(model: nn.Module, x: torch.Tensor, classes: int, steps: int = 60) -> nn.Module:
    """``model`` after a training."""
    y = torch.randint(classes, (len(x),), generator=torch.Generator().manual_seed(2))
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model


def trained_mlp() -> nn.Module:
    return learned(mlp(), torch.randn(64, 12, generator=torch.Generator().manual_seed(0)), 5)


def test_a_trained_network_keeps_its_function_when_the_pruner_is_attached() -> None:
    torch.manual_seed(0)
    words = torch.randint(20, (30, 6))
    for model, x in ((trained_mlp(), torch.randn(40, 12)), (learned(Small(), words, 4), words)):
        model.eval()
        with torch.no_grad():
            before = model(x)
            pruner = Pruner(model, 0.98, steps=10)
            assert pruner.recipe == Recipe.finetune()
            torch.testing.assert_close(model(x), before, rtol=0, atol=1e-5)


def test_many_rates_keep_the_function_of_a_trained_network_too() -> None:
    model, x = trained_mlp().eval(), torch.randn(40, 12)
    with torch.no_grad():
        before = model(x)
        MultiRatePruner(model, (0.5, 0.95), steps=10)
        torch.testing.assert_close(model(x), before, rtol=0, atol=1e-5)


def test_a_new_network_starts_as_before() -> None:
    chosen, asked = mlp(), mlp()
    pruner = Pruner(chosen, 0.9, steps=10)
    Pruner(asked, 0.9, steps=10, recipe=Recipe(start="rank"))
    assert pruner.recipe == Recipe(start="rank")
    for one, other in zip(chosen.parameters(), asked.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_outcome_says_what_was_chosen_and_why() -> None:
    assert str(Pruner(mlp(), 0.9, steps=10).outcome()).splitlines()[1] == (
        'started as a new network (start="rank"): '
        "none of its 1 normalisations shifts one channel differently from another"
    )
    assert str(Pruner(trained_mlp(), 0.9, steps=10).outcome()).splitlines()[1] == (
        'started as a trained network (start="scale"): 1 of its 1 normalisations shift channels differently'
    )
    assert "start" not in str(Pruner(mlp(), 0.9, steps=10, recipe=Recipe(start="rank")).outcome())


@pytest.mark.parametrize("start", ["rank", "scale"])
def test_a_given_start_is_taken(start: str) -> None:
    recipe = Recipe(start=start)  # type: ignore[arg-type]
    for model in (mlp(), trained_mlp()):
        assert Pruner(model, 0.9, steps=10, recipe=recipe).recipe == recipe


def test_a_given_schedule_stays_and_only_the_start_is_chosen() -> None:
    given = Recipe(freeze=0.9)
    pruner = Pruner(trained_mlp(), 0.9, steps=10, recipe=given)
    assert pruner.recipe == replace(given, start="scale")
    assert with_start(Recipe.default(Gaussian(1.0)), "scale") == Recipe.finetune(Gaussian(1.0))


def test_the_presets_paper_and_held_start_as_ever() -> None:
    for recipe in (Recipe.paper(), Recipe.held()):
        model = trained_mlp()
        assert recipe.start == "rank" and choose_start(recipe, model, []) == (recipe, "")


def test_a_resumed_training_goes_on_as_it_started() -> None:
    model = trained_mlp()
    pruner = Pruner(model, 0.9, steps=20)
    train(model, pruner, 6)
    states = copy.deepcopy((model.state_dict(), pruner.state_dict()))
    fresh = mlp()  # the state says everything: its weights need not be trained ones
    resumed = Pruner(fresh, 0.9, steps=20)
    assert resumed.recipe != pruner.recipe
    fresh.load_state_dict(states[0])
    resumed.load_state_dict(states[1])
    assert resumed.recipe == pruner.recipe and resumed.why_start == pruner.why_start
    for net, one in ((model, pruner), (fresh, resumed)):
        train(net, one, 14, seed=3)
    finished = (one.finalize().parameters() for one in (pruner, resumed))
    assert all(torch.equal(first, second) for first, second in zip(*finished, strict=True))
