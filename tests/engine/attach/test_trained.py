"""Trained networks are told from new ones, whatever drew the weights."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import init

from bandstop.engine.attach.parametrisation import prunable_layers
from bandstop.engine.attach.trained import Verdict, drawn, was_trained

Init = Callable[[Tensor], object]

LAWS: dict[str, Init] = {
    "as torch draws it": lambda weight: None,
    "orthogonal": init.orthogonal_,
    "truncated at 100 deviations": lambda weight: init.trunc_normal_(weight, std=0.02),
    "truncated at two deviations": lambda weight: init.trunc_normal_(weight, std=0.02, a=-0.04, b=0.04),
    "normal": lambda weight: init.normal_(weight, std=0.02),
    "kaiming normal": init.kaiming_normal_,
    "xavier uniform": init.xavier_uniform_,
    "sparse": lambda weight: init.sparse_(weight, 0.9),
    "identity": init.eye_,
    "zeros": init.zeros_,
    "bfloat16": lambda weight: weight.copy_(torch.randn_like(weight).bfloat16().float()),
}


def verdict(model: nn.Module) -> Verdict:
    return was_trained(model, prunable_layers(model))


def mlp(law: Init, seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.Linear):
                law(module.weight)
    return model


def train(model: nn.Module, steps: int) -> None:
    """Ten classes around ten centres, which overlap."""
    draw = torch.Generator().manual_seed(1)
    centres = torch.randn(10, 64, generator=draw)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        y = torch.randint(10, (32,), generator=draw)
        x = centres[y] + 3 * torch.randn(32, 64, generator=draw)
        loss = nn.functional.cross_entropy(model(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


@pytest.mark.parametrize("law", LAWS)
def test_a_new_network_is_new(law: str) -> None:
    assert not any(verdict(mlp(LAWS[law], seed)).trained for seed in range(10))


@pytest.mark.parametrize("law", ["as torch draws it", "orthogonal", "normal", "xavier uniform"])
def test_a_trained_network_without_normalisation_is_told_by_its_weights(law: str) -> None:
    model = mlp(LAWS[law], seed=0)
    train(model, 300)
    found = verdict(model)
    assert found.trained and "of its weights" in found.why


NEW: dict[str, Callable[[], nn.Module]] = {
    "lstm": lambda: nn.LSTM(20, 30, 2),
    "attention": lambda: nn.MultiheadAttention(16, 2),
    "padded table": lambda: nn.Embedding(50, 20, padding_idx=0),
    "kernels": lambda: nn.Conv2d(16, 32, 3),
    "encoder": lambda: nn.TransformerEncoderLayer(16, 2, 32),
    "four weights": lambda: nn.Linear(2, 2),
}


@pytest.mark.parametrize("kind", NEW)
def test_every_kind_of_new_layer_is_new(kind: str) -> None:
    for seed in range(10):
        torch.manual_seed(seed)
        assert not verdict(NEW[kind]()).trained


def test_a_look_at_data_is_no_training() -> None:
    """Running statistics move when lazy layers are made or a batch is tried; the shifts do not."""
    model = nn.Sequential(nn.Linear(64, 20), nn.BatchNorm1d(20), nn.Linear(20, 10))
    model(3 + torch.randn(50, 64))
    assert verdict(model) == Verdict(
        False, "none of its 1 normalisations shifts one channel differently from another"
    )
    init.normal_(model[1].weight, 1.0, 0.02)  # type: ignore[arg-type]  # as generators of images start
    assert not verdict(model).trained


def test_one_step_of_training_shows_in_a_normalisation() -> None:
    model = nn.Sequential(nn.Linear(64, 20), nn.BatchNorm1d(20), nn.Linear(20, 10))
    train(model, 1)
    assert verdict(model) == Verdict(True, "1 of its 1 normalisations shift channels differently")


def test_normalisations_without_shifts_are_told_by_their_factors() -> None:
    model = nn.Sequential(nn.Linear(64, 20), nn.RMSNorm(20), nn.Linear(20, 10))
    assert not verdict(model).trained
    train(model, 1)
    assert verdict(model).trained


def test_frozen_normalisations_that_never_learned_say_nothing() -> None:
    model = nn.Sequential(nn.Linear(64, 128), nn.LayerNorm(128), nn.Linear(128, 10))
    model[1].requires_grad_(False)
    train(model, 200)
    assert verdict(model).trained and "of its weights" in verdict(model).why


def test_rows_columns_or_values_of_another_law_were_not_drawn() -> None:
    torch.manual_seed(0)
    normal, factor = torch.randn(60, 60), torch.linspace(0.5, 2, 60)
    assert drawn(normal)
    assert not drawn(normal * factor) and not drawn(normal * factor[:, None])
    assert not drawn(torch.distributions.Laplace(0.0, 1.0).sample((60, 60)))
