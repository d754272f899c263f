"""Every kind of layer trains for real, ends exactly at its budget and stays the layer that it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bandstop import Budget, Pruner, Recipe
from bandstop.method.schedules import Constant
from tests.engine.networks.training_for_tests import train_and_check

first: Callable[[Any], Tensor] = lambda y: y[0]  # noqa: E731


def sequence(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


CASES: dict[
    str, tuple[Callable[[], nn.Module], tuple[Tensor, ...], Callable[[Any], Tensor] | None, list[str]]
] = {
    "Linear": (lambda: nn.Linear(8, 6), (sequence(4, 8),), None, ["weight"]),
    "Bilinear": (lambda: nn.Bilinear(4, 3, 5), (sequence(4, 4), sequence(4, 3)), None, ["weight"]),
    "Conv1d": (lambda: nn.Conv1d(3, 8, 3), (sequence(2, 3, 9),), None, ["weight"]),
    "Conv2d grouped, strided, dilated": (
        lambda: nn.Conv2d(4, 8, 3, stride=2, dilation=2, groups=2, padding=1),
        (sequence(2, 4, 9, 9),),
        None,
        ["weight"],
    ),
    "Conv3d": (lambda: nn.Conv3d(2, 4, 2), (sequence(2, 2, 4, 4, 4),), None, ["weight"]),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(3, 5, 3), (sequence(2, 3, 5),), None, ["weight"]),
    "ConvTranspose2d": (
        lambda: nn.ConvTranspose2d(3, 5, 3, stride=2),
        (sequence(2, 3, 4, 4),),
        None,
        ["weight"],
    ),
    "Embedding": (lambda: nn.Embedding(12, 6), (torch.arange(12),), None, ["weight"]),
    "EmbeddingBag": (lambda: nn.EmbeddingBag(12, 6), (torch.arange(12).view(3, 4),), None, ["weight"]),
    "LSTM of 2 layers, both ways, projected": (
        lambda: nn.LSTM(4, 6, num_layers=2, bidirectional=True, proj_size=3),
        (sequence(5, 2, 4),),
        first,
        [
            f"weight_{kind}_l{i}{way}"
            for i in (0, 1)
            for way in ("", "_reverse")
            for kind in ("ih", "hh", "hr")
        ],
    ),
    "GRU": (
        lambda: nn.GRU(4, 6, num_layers=2, batch_first=True),
        (sequence(2, 5, 4),),
        first,
        ["weight_ih_l0", "weight_hh_l0", "weight_ih_l1", "weight_hh_l1"],
    ),
    "LSTMCell": (lambda: nn.LSTMCell(4, 6), (sequence(3, 4),), first, ["weight_ih"]),
    "MultiheadAttention": (
        lambda: nn.MultiheadAttention(8, 2, batch_first=True),
        (sequence(2, 5, 8),) * 3,
        first,
        ["in_proj_weight", "out_proj.weight"],
    ),
    "MultiheadAttention, separate": (
        lambda: nn.MultiheadAttention(8, 2, kdim=6, vdim=4, add_bias_kv=True),
        (sequence(5, 2, 8), sequence(5, 2, 6), sequence(5, 2, 4)),
        first,
        ["q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"],
    ),
    "Transformer": (
        lambda: nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True),
        (sequence(2, 5, 8), sequence(2, 4, 8)),
        None,
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_layer_of_any_kind(case: str) -> None:
    make, inputs, output, names = CASES[case]
    torch.manual_seed(0)
    layers = (
        None if case != "LSTMCell" else ["weight_ih"]
    )  # a cell that starts from zero does not use its other weight
    pruner = train_and_check(make(), inputs, output=output or (lambda y: y), layers=layers, rate=0.5)
    assert not names or [layer.name for layer in pruner.layers] == names


class Bare(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.A = nn.Parameter(torch.rand(3, 5, 5))
        self.filters = nn.ParameterList([nn.Parameter(torch.randn(4, 4)) for _ in range(2)])
        self.heads = nn.ParameterDict({"a": nn.Parameter(torch.randn(4, 4))})
        self.bias, self.scale = nn.Parameter(torch.zeros(4)), nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        mixed = torch.einsum("kij,bjc->bic", self.A, x)
        return mixed @ self.filters[0] @ self.filters[1] @ self.heads["a"] * self.scale + self.bias


def test_bare_parameters_in_lists_and_dicts() -> None:
    torch.manual_seed(0)
    pruner = train_and_check(Bare(), (sequence(2, 5, 4),), example=sequence(1, 5, 4), rate=0.5)
    assert [layer.name for layer in pruner.layers] == ["A", "filters.0", "filters.1", "heads.a"]
    assert pruner.outcome().live == pruner.kept


class TinyGPT(nn.Module):
    """Embedding and head are one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.place = nn.Embedding(20, 8), nn.Parameter(torch.randn(6, 8))
        self.block = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, norm_first=True)
        self.head = nn.Linear(8, 20, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.block(self.embed(tokens) + self.place, is_causal=True, src_mask=self.mask()))

    def mask(self) -> Tensor:
        return torch.full((6, 6), -torch.inf).triu(1)


@pytest.mark.parametrize("asked", [None, ["head.weight", "block.*weight"]])
def test_tied_weights_are_one_latent_for_every_owner(asked: list[str] | None) -> None:
    torch.manual_seed(0)
    model = TinyGPT()
    asked = asked and [name for name in asked if name != "block.*weight"] + ["block.linear1.weight"]
    pruner = train_and_check(model, (torch.arange(12).view(2, 6),), layers=asked, rate=0.6)
    assert model.head.weight is model.embed.weight
    table = next(layer for layer in pruner.layers if len(layer.owners) == 2)
    assert {id(owner) for owner, _ in table.owners} == {id(model.embed), id(model.head)}


def test_the_fast_path_of_a_transformer_layer_sees_the_gate() -> None:
    torch.manual_seed(0)
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 2)
    x, dense = sequence(2, 5, 8), None
    dense = model.eval()(x)
    recipe = Recipe(ramp=Constant(1.0), threshold="empirical")  # exact before the mask is fixed
    pruner = Pruner(model, 0.5, steps=10, recipe=recipe)
    slow = model.train()(x)
    for stage in (lambda: None, pruner.freeze, pruner.finalize):
        stage()
        with torch.no_grad():
            fast = model.eval()(x)
        assert torch.allclose(fast, slow, atol=1e-5)
    assert not torch.allclose(fast, dense, atol=1e-2)


@pytest.mark.parametrize("row", [0, 4, 11])
@pytest.mark.parametrize("rate", [0.0, 0.5])
@pytest.mark.parametrize("live", [False, True])
def test_the_padding_row_stays_zero_and_is_never_counted(row: int, rate: float, live: bool) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(12, 6, padding_idx=row), nn.Linear(6, 3))
    recipe, example = Recipe(kl=Constant(1.0), start="rank", live=live), torch.arange(12)[None]
    pruner = train_and_check(model, (torch.arange(12)[None],), rate=rate, recipe=recipe, example=example)
    assert pruner.bound.prunable == 11 * 6 + 18
    assert pruner.bound.unpruned == 6 + 3
    assert int(model[0].weight[row].count_nonzero()) == 0
    assert pruner.kept == round((1 - rate) * (11 * 6 + 18))


def test_a_module_used_twice_is_pruned_once() -> None:
    torch.manual_seed(0)
    shared = nn.Linear(6, 6)
    model = nn.Sequential(shared, nn.Tanh(), shared, nn.Tanh(), nn.Linear(6, 2))
    pruner = train_and_check(model, (sequence(4, 6),), example=sequence(1, 6), rate=0.5)
    assert [layer.name for layer in pruner.layers] == ["0.weight", "4.weight"]


@pytest.mark.parametrize("layout", ["channels_last", "transposed"])
@pytest.mark.parametrize("recipe", [Recipe(), Recipe(kl=Constant(0.1), threshold="empirical")])
def test_memory_layouts_stay_and_do_not_matter(layout: str, recipe: Recipe) -> None:
    def make(changed: bool) -> nn.Module:
        torch.manual_seed(0)
        model: nn.Module = nn.Conv2d(3, 8, 3) if layout == "channels_last" else nn.Linear(6, 8)
        if changed and layout == "channels_last":
            return model.to(memory_format=torch.channels_last)
        if changed:
            model.weight = nn.Parameter(model.weight.detach().t().contiguous().t())  # type: ignore[union-attr,operator]
        return model

    x = sequence(2, 3, 6, 6) if layout == "channels_last" else sequence(2, 6)
    weights = []
    for changed in (False, True):
        model = make(changed)
        strides = model.weight.stride()  # type: ignore[union-attr,operator]
        train_and_check(model, (x,), recipe=recipe)
        assert model.weight.stride() == strides  # type: ignore[union-attr,operator]
        weights.append(model.weight)
    assert torch.allclose(weights[0], weights[1], atol=1e-4)  # type: ignore[arg-type]
    assert torch.equal(weights[0] != 0, weights[1] != 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("recipe", [Recipe(kl=Constant(0.1)), Recipe.paper()], ids=["default", "paper"])
def test_other_precisions(dtype: torch.dtype, recipe: Recipe) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 8)).to(dtype)
    pruner = Pruner(model, Budget.weights(48), steps=12, recipe=recipe)
    optimiser = torch.optim.SGD(pruner.parameter_groups(lr=1e-2), momentum=0.9)
    x = sequence(4, 12).to(dtype)
    for _ in range(12):
        optimiser.zero_grad()
        (model(x).square().mean() + pruner.penalty()).backward()
        optimiser.step()
        pruner.step()
    pruner.finalize()
    assert sum(int(m.weight.count_nonzero()) for m in (model[0], model[2])) == 48
    assert model[0].weight.dtype == dtype and bool(model(x).isfinite().all())


def test_live_connections_of_a_bag() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.EmbeddingBag(12, 6), nn.Linear(6, 3))
    bags = torch.arange(12).view(3, 4)
    pruner = train_and_check(model, (bags,), example=bags[:1], rate=0.7)
    assert pruner.outcome().live == pruner.kept
