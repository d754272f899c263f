"""Held layers renewed in one call of compiled loops, or one layer after the other: with the same result."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from bandstop import Pruner, Recipe
from bandstop.engine.hold_at_once import HoldAtOnce
from bandstop.engine.place_in_memory import Place
from bandstop.engine.renewal import Renewal
from bandstop.method.priors import Gaussian, Laplace, Prior, Uniform
from bandstop.method.priors_tabulated import Tabulated

PRIORS = [Laplace(1.0), Gaussian(1.0), Uniform(1.0), Tabulated([-2, -1, 1, 2], [1, 2, 1])]


def net(row: int | None = None) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(300, 40, padding_idx=row), nn.Flatten(), nn.Linear(80, 50))


def shaken(model: nn.Module, recipe: Recipe, *, at_once: bool, taken: int) -> Pruner:
    """A pruner whose latents have gone astray since the last renewal."""
    pruner = Pruner(model, 0.9, steps=100, recipe=replace(recipe, live=False))
    pruner.taken = taken
    torch.manual_seed(1)
    for layer in pruner.layers:
        latent = layer.latent.detach()
        free = layer.free(latent)
        free.mul_(1.3).add_(0.2 * torch.randn_like(free))
    assert isinstance(pruner.renewal, Renewal) and isinstance(pruner.renewal.at_once, HoldAtOnce)
    if not at_once:
        pruner.renewal.at_once = None
    return pruner


def states(
    change: Callable[[Pruner], None], recipe: Recipe, row: int | None, taken: int
) -> list[dict[str, Tensor]]:
    found = []
    for at_once in (True, False):
        model = net(row)
        pruner = shaken(model, recipe, at_once=at_once, taken=taken)
        change(pruner)
        found.append(model.state_dict())
    return found


def renew(pruner: Pruner) -> None:
    if pruner.renewal.at_once is not None:
        assert pruner.renewal.at_once.usable()
    pruner._update()


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
@pytest.mark.parametrize("row", [None, 0, 299])
@pytest.mark.parametrize("taken", [40, 75])
def test_at_once_is_one_after_the_other(prior: Prior, row: int | None, taken: int) -> None:
    pytest.importorskip("numba")
    one, two = states(renew, Recipe.held(prior), row, taken)
    for name, value in one.items():
        assert torch.allclose(value, two[name], rtol=1e-3, atol=1e-4), name


def test_trained_gains_and_soft_gates_are_left_to_themselves() -> None:
    pytest.importorskip("numba")
    one, two = states(renew, replace(Recipe.held(), gain="learned"), None, 40)
    assert all(torch.allclose(value, two[name], rtol=1e-3, atol=1e-4) for name, value in one.items())


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, 0.0])
def test_layers_without_a_finite_scale_take_the_long_way(bad: float) -> None:
    def spoil(pruner: Pruner) -> None:
        pruner.layers[0].latent.detach()[3:].fill_(bad)
        pruner._update()

    one, two = states(spoil, Recipe.held(), 0, 40)
    assert all(torch.equal(value.isfinite(), two[name].isfinite()) for name, value in one.items())


def test_memory_that_moved_is_found_again() -> None:
    pytest.importorskip("numba")
    model = net()
    pruner = shaken(model, Recipe.held(), at_once=True, taken=75)
    renew(pruner)
    model.double()
    at_once = pruner.renewal.at_once
    assert at_once is not None and not at_once.usable()
    model.float()
    renew(pruner)
    place = Place(pruner.layers[0])
    assert place.stays()
    pruner.layers[0].latent.data = pruner.layers[0].latent.detach().clone()
    assert not place.stays()
    renew(pruner)


def test_rows_that_lie_apart_and_small_networks_take_the_long_way() -> None:
    for model in (net(7), nn.Sequential(nn.Linear(5, 4))):
        pruner = Pruner(model, 0.5, steps=10, recipe=replace(Recipe.held(), live=False))
        assert pruner.renewal.at_once is not None
        if model[0].weight.numel() > 20:
            assert not pruner.renewal.at_once.usable()
        pruner._update()
