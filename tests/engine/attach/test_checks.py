"""What cannot be pruned or asked for is refused in one sentence."""

import warnings
from collections.abc import Callable

import pytest
import torch
from torch import nn

from bandstop import BandstopError, Budget, Pruner, Recipe
from bandstop.engine.attach.checks import (
    check_model,
    check_rates,
    check_steps,
    require_own_memory,
    require_plain_values,
)
from bandstop.errors import BudgetError, ConfigError, ModelError
from tests.engine.small_nets import pair

WRONG: dict[str, tuple[Callable[[], object], type[BandstopError], str]] = {
    "a rate as text": (lambda: Pruner(pair(), "0.9", steps=4), BudgetError, "found str '0.9'"),  # type: ignore[arg-type]
    "no weights": (lambda: Budget.weights(None), BudgetError, "in weights must be a number, found None"),  # type: ignore[arg-type]
    "endless weights": (lambda: Budget.weights(float("inf")), BudgetError, "whole number"),  # type: ignore[arg-type]
    "a tensor as a rate": (lambda: Pruner(pair(), torch.tensor(0.9), steps=4), BudgetError, "found Tensor"),  # type: ignore[arg-type]
    "a flag as a rate": (lambda: Pruner(pair(), True, steps=4), BudgetError, "found bool True"),
    "an unknown scope": (lambda: Budget.rate(0.5, scope="all"), BudgetError, "prunable or network"),  # type: ignore[arg-type]
    "no steps": (lambda: Pruner(pair(), 0.9, steps=None), ConfigError, "at least 1, found None"),  # type: ignore[arg-type]
    "half a step": (lambda: Pruner(pair(), 0.9, steps=1.5), ConfigError, "at least 1, found 1.5"),  # type: ignore[arg-type]
    "no module": (lambda: Pruner(lambda x: x, 0.9, steps=4), ModelError, "found function"),  # type: ignore[arg-type]
    "no prior": (lambda: Recipe(prior=None), ConfigError, r"prior must be a Prior such as Laplace"),  # type: ignore[arg-type]
    "a gate by name": (lambda: Recipe(gate="soft"), ConfigError, r"gate must be a Gate such as Soft"),  # type: ignore[arg-type]
    "a number as a ramp": (lambda: Recipe(ramp=0.5), ConfigError, r"ramp must be a Schedule such as"),  # type: ignore[arg-type]
    "a recipe by name": (
        lambda: Pruner(pair(), 0.9, steps=4, recipe="paper"),  # type: ignore[arg-type]
        ConfigError,
        "recipe must be a Recipe, found str",
    ),
    "scripted": (lambda: Pruner(torch.jit.script(pair()), 0.9, steps=4), ModelError, "scripted model"),
    "one padding row": (
        lambda: Pruner(nn.Embedding(1, 4, padding_idx=0), 0.5, steps=4),
        ModelError,
        "nothing but its padding row",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_types_are_refused_in_a_sentence(case: str) -> None:
    make, kind, message = WRONG[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(kind, match=message):
            make()


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (torch.eye(4).to_sparse(), "has the layout torch.sparse_coo"),
        (torch.eye(4).to(torch.float8_e4m3fn), "has type torch.float8_e4m3fn"),
    ],
    ids=["sparse", "float8"],
)
def test_odd_weights_are_refused(weight: torch.Tensor, message: str) -> None:
    model = nn.Module()
    model.matrix = nn.Parameter(weight)
    with pytest.raises(ModelError, match=message):
        Pruner(model, 0.5, steps=4, layers="matrix")


def test_checks_pass_what_is_right() -> None:
    model = pair()
    check_model(model)
    assert check_steps(3) == 3
    require_plain_values("0.weight", model[0].weight)
    require_own_memory(model, {id(model[0].weight): "0.weight"})


@pytest.mark.parametrize("rates", [None, 0.9, "0.5:0.9", (0.5,), (0.9, 0.5), (True, 0.9), ("a", "b")])
def test_rates_that_are_no_range_are_refused(rates: object) -> None:
    with pytest.raises(ConfigError, match="rate"):
        check_rates(rates)


@pytest.mark.parametrize("layers", [3, 0.5, True, object(), torch.tensor(1.0)])
def test_layers_that_are_none_are_refused(layers: object) -> None:
    with pytest.raises(ModelError, match="layers are name patterns, layer types or a predicate"):
        Pruner(pair(), 0.5, steps=4, layers=layers)  # type: ignore[arg-type]


def test_a_layer_made_in_inference_mode_and_cast_since_is_refused() -> None:
    with torch.inference_mode():
        model = nn.Linear(6, 4)
    with pytest.raises(ModelError, match="made in inference mode"):
        Pruner(model.to(torch.float64), 0.5, steps=4)
