"""What is planned before training is what the trained network has, as far as the plan says so."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from bandstop import Budget, Pruner, Recipe
from bandstop.engine.planned import PlannedBudget
from bandstop.engine.trace import count_kept


def trained(recipe: Recipe, *, live: bool = False) -> tuple[PlannedBudget, dict[str, int]]:
    """The plan of a short training, and the counts that it ends with."""
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(30, 40), nn.ReLU(), nn.Linear(40, 10)), torch.randn(64, 30)
    pruner = Pruner(model, 0.9, steps=24, recipe=recipe, example=x[:1] if live else None)
    plan, target = pruner.planned(), torch.randint(10, (64,))
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=1e-2))
    for _ in range(24):
        loss = nn.functional.cross_entropy(model(x), target) + pruner.penalty()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        pruner.step()
    pruner.finalize()
    return plan, {"0.weight": count_kept(model[0].weight), "2.weight": count_kept(model[2].weight)}


@pytest.mark.parametrize("allocation", ["lamp", "uniform", "erk"])
def test_every_layer_has_what_was_planned(allocation: str) -> None:
    plan, kept = trained(Recipe(allocation=allocation))  # type: ignore[arg-type]
    assert plan.sure == "layers" and dict(plan.counts) == kept


def test_so_it_is_with_latents_held_to_the_prior() -> None:
    plan, kept = trained(Recipe.held())
    assert plan.sure == "layers" and dict(plan.counts) == kept


@pytest.mark.parametrize(("recipe", "live"), [(Recipe(allocation="learned"), False), (Recipe(), True)])
def test_where_layers_may_differ_the_total_is_as_planned(recipe: Recipe, live: bool) -> None:
    plan, kept = trained(recipe, live=live)
    assert plan.sure == "total" and plan.total == sum(kept.values())
    assert "its layers may differ" in plan.sentence


def test_what_passes_is_only_aimed_at() -> None:
    plan, kept = trained(Recipe(threshold="prior", count="passing"))
    assert plan.sure == "nothing" and plan.total == 160 != sum(kept.values())


def test_macs_are_only_aimed_at() -> None:
    model = nn.Linear(30, 40)
    plan = Pruner(model, Budget.macs(200), steps=9, example=torch.randn(1, 30)).planned()
    assert (plan.sure, plan.total) == ("nothing", 200)
