"""What someone who means harm met: exact, or refused in a sentence, and nothing half done."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize

from bandstop import Budget, MultiRatePruner, Pruner, Recipe
from bandstop.engine.state import load_state, require_masks, state_of
from bandstop.errors import ConfigError, DivergenceError, ModelError
from bandstop.method.schedules import Constant
from tests.engine.small_nets import kept, mlp, pair


def values(model: nn.Module) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in model.parameters()]


# --- inexact without a word ---


def test_views_of_one_memory_are_refused() -> None:
    memory = torch.randn(10, 10)
    model = nn.Sequential(nn.Linear(10, 8, bias=False), nn.Linear(10, 8, bias=False))
    model[0].weight, model[1].weight = nn.Parameter(memory[:8]), nn.Parameter(memory[2:])
    with pytest.raises(ModelError, match=r"parameters 0.weight and 1.weight are views of the same memory"):
        Pruner(model, 0.5, steps=4)
    model[1].weight = nn.Parameter(memory[2:].clone())
    assert kept(Pruner(model, 0.5, steps=4).finalize()) == 80


def test_memory_that_is_shared_without_overlap_is_fine() -> None:
    memory = torch.randn(10, 10)
    model = nn.Sequential(nn.Linear(10, 5, bias=False), nn.Linear(10, 5, bias=False))
    model[0].weight, model[1].weight = nn.Parameter(memory[:5]), nn.Parameter(memory[5:])
    assert kept(Pruner(model, 0.5, steps=4).finalize()) == 50


def frozen_states(rate: float) -> tuple[dict[str, Any], dict[str, Any]]:
    model = pair()
    pruner = Pruner(model, rate, steps=10)
    pruner.freeze()
    return copy.deepcopy(model.state_dict()), pruner.state_dict()


def test_a_state_of_another_budget_is_refused() -> None:
    _, state = frozen_states(0.9)
    with pytest.raises(ConfigError, match=r"budget 0.9 \(rate, prunable\), and this one has 0.98"):
        Pruner(pair(), 0.98, steps=10).load_state_dict(state)
    with pytest.raises(ConfigError, match=r"0.9 \(rate, prunable\), and this one has 19 \(weights"):
        Pruner(pair(), Budget.weights(19), steps=10).load_state_dict(state)


def test_a_state_of_other_layers_or_shapes_is_refused() -> None:
    _, state = frozen_states(0.9)
    with pytest.raises(ConfigError, match=r"a pruner of 0.weight, 2.weight, and this one prunes weight"):
        Pruner(nn.Linear(4, 8), 0.9, steps=10).load_state_dict(state)
    wide = nn.Sequential(nn.Linear(8, 20), nn.ReLU(), nn.Linear(20, 4))
    with pytest.raises(ConfigError, match=r"layer 0.weight has 128 weights, and here it has 160"):
        Pruner(wide, 0.9, steps=10).load_state_dict(state)


@pytest.mark.parametrize("verb", ["step", "finalize", "freeze"])
def test_one_of_two_states_is_not_enough(verb: str) -> None:
    net_state, state = frozen_states(0.9)
    pruner = Pruner(pair(), 0.9, steps=10)
    pruner.load_state_dict(state)
    with pytest.raises(ConfigError, match="load the states of model and pruner together"):
        getattr(pruner, verb)()
    pruner.model.load_state_dict(net_state)
    pruner.step()
    assert kept(pruner.finalize()) == pruner.outcome().kept == 19
    assert state_of(pruner)["counts"] == state["counts"]
    assert load_state.__doc__ and require_masks.__doc__


def test_states_load_in_either_order_and_old_ones_without_a_budget() -> None:
    net_state, state = frozen_states(0.9)
    old = {key: value for key, value in state.items() if key not in ("budget", "sizes")}
    old["cuts"] = old.pop("thresholds")
    for first in (True, False):
        pruner = Pruner(pair(), 0.9, steps=10)
        if first:
            pruner.model.load_state_dict(net_state)
        pruner.load_state_dict(old)
        if not first:
            pruner.model.load_state_dict(net_state)
        pruner.step()
        assert kept(pruner.finalize()) == 19


CHANGES: dict[str, tuple[Callable[[nn.Sequential], object], str]] = {
    "replaced": (lambda net: net.__setitem__(2, nn.Linear(16, 4)), "2 was replaced"),
    "appended": (lambda net: net.append(nn.Linear(4, 4)), "3 was added"),
    "deleted": (lambda net: net.__delitem__(2), "2 was removed"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("verb", ["finalize", "outcome", "freeze"])
def test_a_model_that_changed_is_refused(change: str, verb: str) -> None:
    model = pair()
    pruner = Pruner(model, 0.9, steps=10)
    CHANGES[change][0](model)
    with pytest.raises(ModelError, match=CHANGES[change][1]):
        getattr(pruner, verb)()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_half_precision_that_underflows_still_keeps_the_asked_number(
    dtype: torch.dtype, scale: float
) -> None:
    torch.manual_seed(0)
    model = nn.Linear(32, 30, bias=False).to(dtype)
    with torch.no_grad():
        model.weight.mul_(scale)
    pruner = Pruner(model, 0.9, steps=10, recipe=Recipe(ramp=Constant(1.0)))
    pruner.freeze()
    with torch.no_grad():
        pruner.layers[0].latent.mul_(1e-6)
    plain = pruner.finalize()
    assert kept(plain) == pruner.outcome().kept == 96


def test_the_outcome_counts_what_is_there() -> None:
    model = pair()
    pruner = Pruner(model, 0.9, steps=10)
    pruner.finalize()
    with torch.no_grad():
        model[0].weight.zero_()
    assert pruner.outcome().kept == kept(model) < 19


# --- half attached ---


def expanded(model: nn.Sequential) -> None:
    model[2].weight = nn.Parameter(torch.ones(1, 16).expand(4, 16))


def inference(model: nn.Sequential) -> None:
    with torch.inference_mode():
        model[2] = nn.Linear(16, 4)


@pytest.mark.parametrize(
    ("spoil", "message"), [(expanded, "an expanded tensor"), (inference, "inference mode")]
)
def test_a_second_layer_that_cannot_be_pruned_leaves_the_first_alone(
    spoil: Callable[[nn.Sequential], None], message: str
) -> None:
    model = pair()
    spoil(model)
    before, weight = type(model[0]), model[0].weight.detach().clone()
    with pytest.raises(ModelError, match=message):
        Pruner(model, 0.5, steps=4)
    assert type(model[0]) is before and torch.equal(model[0].weight, weight)


def test_what_fails_in_the_middle_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pair()
    names, before = [name for name, _ in model.named_parameters()], values(model)
    monkeypatch.setattr(Pruner, "_update", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Pruner(model, 0.5, steps=4)
    assert [name for name, _ in model.named_parameters()] == names
    assert all(torch.equal(a, b) for a, b in zip(values(model), before, strict=True))
    assert not any(parametrize.is_parametrized(module) for module in model.modules())


# --- after the freeze ---


def test_values_that_diverge_after_the_freeze_are_not_handed_over() -> None:
    pruner = Pruner(pair(), 0.5, steps=4)
    pruner.freeze()
    with torch.no_grad():
        latent = pruner.layers[1].latent
        latent[latent != 0] = torch.nan
    with pytest.raises(DivergenceError, match=r"layer 2.weight has values that are not finite"):
        pruner.finalize()
    assert parametrize.is_parametrized(pruner.model[2])  # type: ignore[index]


def lstm() -> nn.Module:
    return nn.LSTM(3, 4, num_layers=2)


class BiasFirst(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.shift, self.matrix = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.randn(3, 3))
        self.inner = nn.Conv1d(1, 2, 3)


NETS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Linear(4, 3),
    "mlp": mlp,
    "attention": lambda: nn.TransformerEncoderLayer(8, 2, 16),
    "bias first": BiasFirst,
    "lstm": lstm,
}


@pytest.mark.parametrize("name", NETS)
def test_the_order_of_parameters_stays(name: str) -> None:
    model = NETS[name]()
    names = [n for n, _ in model.named_parameters()]
    order = [id(parameter) for parameter in model.parameters()]
    pruner = Pruner(model, 0.5, steps=4)
    assert [id(parameter) for parameter in model.parameters()] == order
    twin = copy.deepcopy(model)
    assert [p.shape for p in twin.parameters()] == [p.shape for p in model.parameters()]
    pruner.finalize()
    assert [n for n, _ in model.named_parameters()] == names
    assert [id(parameter) for parameter in model.parameters()] == order
    assert list(model.state_dict())[: len(names)] == list(NETS[name]().state_dict())[: len(names)]


def test_the_order_of_parameters_of_an_extracted_network_stays() -> None:
    model = pair()
    names = list(model.state_dict())
    pruner = MultiRatePruner(model, (0.2, 0.8), steps=4)
    assert list(pruner.extract(0.5).state_dict()) == names


VERBS: dict[str, Callable[[Pruner], object]] = {
    "step": lambda pruner: pruner.step(),
    "freeze": lambda pruner: pruner.freeze(),
    "snapshot": lambda pruner: pruner.snapshot(),
    "load_state_dict": lambda pruner: pruner.load_state_dict(pruner.state_dict()),
    "penalty": lambda pruner: pruner.penalty(),
    "finalize": lambda pruner: pruner.finalize(),
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_after_finalize_say_so(verb: str) -> None:
    pruner = Pruner(pair(), 0.5, steps=4)
    pruner.finalize()
    with pytest.raises(ConfigError, match="the pruner is finalized already"):
        VERBS[verb](pruner)
