"""Engine cases: exact, or refused in a sentence and nothing touched; `outcome()` counts what is there."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from bandstop import Budget, Pruner, Recipe
from bandstop.errors import BandstopError
from bandstop.method.schedules import Constant
from torture.case import Case, Place, Result, plain_sentence
from torture.disturb import DISTURBANCES
from torture.networks import NETWORKS
from torture.wrong_types import WRONG

__all__ = ["GROUP", "UNIT", "cases", "exactly"]

GROUP, UNIT = "engine", "cases"
DRAWN = 320
"""Cases whose network, budget, recipe, type and disturbance are drawn by dice."""

BUDGETS: dict[str, Callable[[Random], Any]] = {
    "rate": lambda dice: round(dice.choice((0.0, 0.3, 0.5, 0.9, 0.97, 0.99 * dice.random())), 3),
    "weights": lambda dice: Budget.weights(dice.choice((1, 2, 7, 19, 40, 10**6))),
    "network": lambda dice: Budget.rate(round(0.99 * dice.random(), 2), scope="network"),
    "bytes": lambda dice: Budget.bytes(dice.choice((1, 200, 500, 4000))),
}
TYPES = {
    "float32": (torch.float32, 0.5),
    "float16": (torch.float16, 0.9),
    "bfloat16": (torch.bfloat16, 0.3),
    "float64": (torch.float64, 0.97),
}
"""Type of the weights, and the rate that is asked."""
RECIPES: dict[str, Callable[[], Recipe | None]] = {
    "default": lambda: None,
    "any connection": lambda: Recipe(live=False),
    "at once": lambda: Recipe(ramp=Constant(1.0), every=1),
    "scale": lambda: Recipe(start="scale"),
}


def cases(share: float) -> Iterator[Case]:
    """Every network as it is, in half precision and at 97 %; every disturbance; wrong types; drawn ones."""
    for name in NETWORKS:
        for what, (dtype, budget) in TYPES.items():
            yield Case(GROUP, f"{name}, {what}", _case(name, budget, dtype))
    for name in DISTURBANCES:
        for net in ("mlp", "tied", "lstm"):
            yield Case(GROUP, f"{net}, {name}", _case(net, 0.9, torch.float32, disturb=name))
    for name in WRONG:
        yield Case(GROUP, f"wrong: {name}", _wrong(name))
    for number in range(max(5, round(share * DRAWN))):
        yield Case(GROUP, f"drawn {number}", _drawn)


def _case(
    net: str, budget: Any, dtype: torch.dtype, disturb: str = "nothing", recipe: Recipe | None = None
) -> Callable[[Place], Result]:
    def run(place: Place) -> Result:
        torch.manual_seed(place.random.getrandbits(32))
        model = _cast(NETWORKS[net](), dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem, facts = exactly(model, budget, DISTURBANCES[disturb], recipe)
        what = f"{net}, {budget}, {dtype}, {disturb}, {recipe is not None}"
        return Result(1, (f"{what}: {problem}",) if problem else (), facts=facts)

    return run


def _drawn(place: Place) -> Result:
    dice = place.random
    net, recipe = dice.choice(list(NETWORKS)), dice.choice(list(RECIPES))
    budget = BUDGETS[dice.choice(list(BUDGETS))](dice)
    disturb = dice.choice(("nothing", *DISTURBANCES))
    dtype = dice.choice((torch.float32,) * 3 + (torch.float16, torch.bfloat16, torch.float64))
    return _case(net, budget, dtype, disturb, RECIPES[recipe]())(place)


def _cast(model: nn.Module, dtype: torch.dtype) -> nn.Module:
    try:
        return model.to(dtype)
    except (NotImplementedError, RuntimeError, TypeError):  # torch itself cannot
        return model


def exactly(
    model: nn.Module, budget: Any, disturb: Callable[[nn.Module, Pruner, int], object], recipe: Recipe | None
) -> tuple[str, dict[str, int]]:
    """What is wrong with a training of six steps; nothing if it is exact or refused as it should be."""
    before = _values(model)
    try:
        pruner = Pruner(model, budget, steps=6, recipe=recipe)
    except BandstopError as refused:
        problem = plain_sentence(str(refused))
        touched = "" if _same(_values(model), before) else "refused, but the model is changed"
        return (f"its refusal {problem}: {refused}" if problem else touched), {"sum refused": 1}
    except Exception as problem:
        return f"{type(problem).__name__} at attach instead of a sentence: {str(problem)[:200]}", {}
    try:
        for step in range(6):
            _tremble(model)
            disturb(model, pruner, step)
            pruner.step()
        plain = pruner.finalize()
    except BandstopError as refused:
        problem = plain_sentence(str(refused))
        return (f"its refusal {problem}: {refused}" if problem else ""), {"sum refused": 1}
    except Exception as problem:
        return f"{type(problem).__name__} instead of a sentence: {str(problem)[:200]}", {}
    return _judge(plain, pruner), {"sum exact": 1}


def _judge(plain: nn.Module, pruner: Pruner) -> str:
    """Exactly what the budget allows, and what `outcome` says is what is there."""
    weights = {layer.name: getattr(*layer.owners[0]) for layer in pruner.layers}
    kept = sum(int(weight.count_nonzero()) for weight in weights.values())
    asked = pruner.budget.connections(prunable=pruner.bound.prunable, unpruned=pruner.bound.unpruned)
    if kept != asked:
        return f"asked {asked}, kept {kept}"
    if pruner.outcome().kept != kept:
        return f"outcome says {pruner.outcome().kept}, there are {kept}"
    if not all(bool(torch.isfinite(weight).all()) for weight in weights.values()):
        return "a weight is not finite"
    if any(parametrize.is_parametrized(module, "weight") for module in plain.modules()):
        return "a parametrisation is left"
    return ""


def _tremble(model: nn.Module) -> None:
    """As an optimiser does: every trained tensor moves a little."""
    with torch.no_grad():
        for parameter in model.parameters():
            if (
                parameter.requires_grad
                and parameter.is_floating_point()
                and parameter.layout == torch.strided
            ):
                parameter.add_(torch.randn_like(parameter) * 0.05)


def _values(model: nn.Module) -> list[tuple[str, Tensor]]:
    try:
        return [(name, value.detach().clone()) for name, value in model.named_parameters()]
    except (NotImplementedError, RuntimeError, ValueError):
        return []


def _same(one: list[tuple[str, Tensor]], other: list[tuple[str, Tensor]]) -> bool:
    def equal(a: Tensor, b: Tensor) -> bool:
        if a.device.type == "meta" or a.layout != torch.strided or a.dtype == torch.float8_e4m3fn:
            return a.shape == b.shape
        return torch.equal(a.nan_to_num() if a.is_floating_point() else a, b.nan_to_num() if
                           b.is_floating_point() else b)  # fmt: skip

    names = [name for name, _ in one] == [name for name, _ in other]
    return names and all(equal(a, b) for (_, a), (_, b) in zip(one, other, strict=True))


def _wrong(name: str) -> Callable[[Place], Result]:
    def run(place: Place) -> Result:
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                WRONG[name]()
            except BandstopError as refused:
                problem = plain_sentence(str(refused))
                said = (f"{name}: its refusal {problem}: {refused}",) if problem else ()
                return Result(1, said, facts={"sum refused": 1})
            except Exception as problem:
                return Result(1, (f"{name}: {type(problem).__name__} instead of a sentence: {problem}",))
        return Result(1, (f"{name}: it was taken without a word",))

    return run
