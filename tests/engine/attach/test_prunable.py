"""Which parameters are pruned, what is left alone and counted,
and what is refused with a sentence before anything is touched.
"""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations, prune, spectral_norm, weight_norm

from bandstop import Budget, Pruner, Recipe
from bandstop.errors import BandstopError, BudgetError, ModelError, TrainingError
from tests.engine.networks.training_for_tests import mlp


def names(pruner: Pruner) -> list[str]:
    return [layer.name for layer in pruner.layers]


class Mixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm2d = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4)
        self.norm = nn.LayerNorm([4, 4])
        self.attend = nn.MultiheadAttention(4, 2, add_bias_kv=True)
        self.lstm, self.head = nn.LSTM(4, 4), nn.Linear(4, 2)


def test_biases_and_normalisation_are_left_alone_and_counted() -> None:
    model = Mixed()
    pruner = Pruner(model, 0.5, steps=2)
    assert names(pruner) == [
        "conv.weight",
        "attend.in_proj_weight",
        "attend.out_proj.weight",
        "lstm.weight_ih_l0",
        "lstm.weight_hh_l0",
        "head.weight",
    ]
    total = sum(p.numel() for p in Mixed().parameters())
    assert pruner.bound.prunable + pruner.bound.unpruned == total
    outcome = pruner.outcome()
    assert outcome.parameters == outcome.kept + pruner.bound.unpruned


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ("head.*t", ["head.weight"]),
        (nn.Linear, ["attend.out_proj.weight", "head.weight"]),
        ([nn.LSTM, "conv.weight"], ["conv.weight", "lstm.weight_ih_l0", "lstm.weight_hh_l0"]),
        (["!lstm.*", "!attend.*"], ["conv.weight", "head.weight"]),
        ([nn.Linear, "!head.*"], ["attend.out_proj.weight"]),
        (lambda name, p: p.ndim == 4, ["conv.weight"]),
        (["head.bias"], ["head.bias"]),
    ],
)
def test_layers_by_pattern_type_exclusion_and_predicate(layers: object, expected: list[str]) -> None:
    assert names(Pruner(Mixed(), 0.5, steps=2, layers=layers, recipe=Recipe(floor=0))) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (["nope.*"], r"no parameter is called 'nope\.\*'; the model has: conv\.weight"),
        (["!nope"], "no parameter is called 'nope'"),
        (nn.Conv3d, "no trained weight of two or more dimensions in a layer of type Conv3d"),
        (nn.BatchNorm2d, "in a layer of type BatchNorm2d"),
        ([3], "name patterns, layer types or a predicate; found 3"),
        (lambda name, p: False, "no weight"),
    ],
)
def test_a_choice_that_meets_nothing_is_refused(layers: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Pruner(Mixed(), 0.5, steps=2, layers=layers)  # type: ignore[arg-type]


def lazy() -> nn.Module:
    return nn.Sequential(nn.LazyLinear(8), nn.Linear(8, 2))


def meta() -> nn.Module:
    with torch.device("meta"):
        return nn.Linear(6, 6)


def masked() -> nn.Module:
    layer = nn.Linear(6, 6)
    prune.l1_unstructured(layer, "weight", 0.5)
    return nn.Sequential(layer)


def infinite() -> nn.Module:
    model = mlp()
    model[3].weight.data[0, 0] = torch.inf
    return model


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lazy, r"0\.weight of a LazyLinear has no shape yet: run the model once"),
        (meta, "meta device .* load_state_dict"),
        (
            lambda: nn.Linear(4, 4, dtype=torch.complex64),
            r"complex64: only floating-point .* layers=\['!weight'\]",
        ),
        (lambda: nn.Embedding(9, 4, sparse=True), "sparse=True, whose sparse gradients cannot pass a gate"),
        (lambda: nn.EmbeddingBag(9, 4, sparse=True), "EmbeddingBag with sparse=True"),
        (lambda: nn.Embedding(9, 4, max_norm=1.0), "max_norm, which rewrites its rows"),
        (
            lambda: parametrizations.weight_norm(nn.Linear(4, 4)),
            "parametrised already: its weight is made by _WeightNorm",
        ),
        (lambda: weight_norm(nn.Linear(4, 4)), r"WeightNorm, .*remove_weight_norm .* layers=\['!weight\*'\]"),
        (lambda: spectral_norm(nn.Linear(4, 4)), "SpectralNorm, .*remove_spectral_norm"),
        (masked, "L1Unstructured, .* torch.nn.utils.prune.remove"),
        (infinite, r"layer 3\.weight holds values that are not finite"),
        (lambda: mlp().requires_grad_(False), r"no weight .* that is trained \(some are frozen\)"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_pruned_is_named_with_a_remedy_and_left_as_it_was(make: object, message: str) -> None:
    model = make()  # type: ignore[operator]
    classes = [type(module) for module in model.modules()]
    with pytest.raises(BandstopError, match=message):
        Pruner(model, 0.5, steps=2)
    assert [type(module) for module in model.modules()] == classes


def test_the_remedies_work() -> None:
    model = nn.Sequential(parametrizations.weight_norm(nn.Linear(4, 4)), nn.Linear(4, 4))
    x = torch.randn(3, 4)
    pruner = Pruner(model, 0.5, steps=2, layers=["!0.weight"])
    model(x).sum().backward()
    assert names(pruner) == ["1.weight"] and model[0].parametrizations.weight.original1.grad is not None
    pruner.finalize()
    model(x)
    run_once = lazy()
    run_once(x)
    assert names(Pruner(run_once, 0.5, steps=2)) == ["0.weight", "1.weight"]


def test_frozen_and_integer_parameters_are_not_touched() -> None:
    model = mlp()
    model[0].weight.requires_grad_(False)
    model.codes = nn.Parameter(torch.ones(3, 3, dtype=torch.int8), requires_grad=False)
    before = model[0].weight.clone()
    pruner = Pruner(model, 0.5, steps=2)
    assert names(pruner) == ["3.weight", "5.weight"]
    pruner.finalize()
    assert torch.equal(model[0].weight, before)
    with pytest.raises(ModelError, match=r"0\.weight is frozen .* unfreeze it or leave it out"):
        Pruner(model, 0.5, steps=2, layers=["0.weight"])
    with pytest.raises(ModelError, match=r"codes has type torch\.int8"):
        Pruner(model, 0.5, steps=2, layers=["codes"])


def test_0_99_of_a_layer_of_40_weights() -> None:
    model = nn.Linear(8, 5)
    with pytest.raises(BudgetError, match="smallest possible"):
        Pruner(copy.deepcopy(model), 0.999, steps=2)
    assert int(Pruner(model, 0.975, steps=2).finalize().weight.count_nonzero()) == 1  # type: ignore[operator,union-attr]


def test_applied_twice_a_rate_is_a_rate_of_all_weights() -> None:
    model = mlp()
    for _ in range(2):
        Pruner(model, 0.5, steps=2).finalize()
    assert sum(int(model[i].weight.count_nonzero()) for i in (0, 3, 5)) == 376


@pytest.mark.parametrize(
    ("budget", "kept"),
    [
        (0.9, 75),
        (Budget.rate(0.9, scope="network"), None),
        (Budget.rate(0.5, scope="network"), round(0.5 * (752 + 93)) - 93),
        (Budget.weights(200), 200),
        (Budget.weights(200, scope="network"), 200 - 93),
        (Budget.bytes(1000), (1000 - 4 * 93) // 6),
        (Budget.bytes(1000, scope="prunable"), 1000 // 6),
    ],
)
def test_every_way_to_name_a_budget(budget: Budget | float, kept: int | None) -> None:
    if kept is None:  # biases and normalisation alone are more than a tenth of this network
        with pytest.raises(BudgetError, match="93 of them never pruned"):
            Pruner(mlp(), budget, steps=2)
        return
    pruner = Pruner(mlp(), budget, steps=2)
    model = pruner.finalize()
    assert sum(int(p.count_nonzero()) for p in model.parameters() if p.ndim == 2) == kept
    outcome = pruner.outcome()
    assert (outcome.kept, outcome.prunable, outcome.unpruned) == (kept, 752, 93)
    if isinstance(budget, Budget) and budget.kind == "bytes" and budget.scope == "network":
        assert 994 < outcome.bytes <= 1000


def test_a_training_that_diverged_is_not_pruned_to_nothing() -> None:
    model = mlp()
    pruner = Pruner(model, 0.5, steps=2)
    pruner.layers[1].latent.data[0, 0] = torch.nan
    with pytest.raises(TrainingError, match=r"3\.weight .* diverged"):
        pruner.finalize()


def test_a_predicate_sees_name_and_parameter() -> None:
    seen: list[tuple[str, Tensor]] = []

    def choose(name: str, parameter: nn.Parameter) -> bool:
        seen.append((name, parameter))
        return name == "5.weight"

    Pruner(mlp(), 0.5, steps=2, layers=choose)
    assert ("0.bias", torch.Size([24])) in [(name, p.shape) for name, p in seen]
