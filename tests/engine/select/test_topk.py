"""Thresholds and masks are exact: against sorting, with ties, zeros and subnormal numbers."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bandstop.engine.select import topk
from bandstop.engine.select.topk import (
    count_above,
    descending_order,
    fill_up,
    masks_above,
    pooled_thresholds,
    relative_ranks,
    select,
    select_largest,
    threshold_for,
    thresholds_for,
)
from bandstop.method.priors import prior

numbers = st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=30)


@given(numbers, st.data())
@settings(deadline=None)
def test_a_selection_is_the_head_of_a_stable_sort(values: list[float], data: st.DataObject) -> None:
    scores, count = torch.tensor(values), data.draw(st.integers(0, len(values)))
    first = scores.sort(descending=True, stable=True).indices[:count]
    assert select(scores, count).nonzero().flatten().tolist() == sorted(first.tolist())


@given(numbers, st.data())
@settings(deadline=None)
def test_at_most_the_asked_count_exceeds_the_threshold_and_with_its_ties_at_least_as_many(
    values: list[float], data: st.DataObject
) -> None:
    latent, count = torch.tensor(values), data.draw(st.integers(0, len(values)))
    threshold = threshold_for(latent, count)
    assert int((latent.abs() > threshold).sum()) <= count
    assert int((latent.abs() >= threshold).sum()) >= count


@given(numbers, numbers, st.integers(0, 2), st.data())
@settings(deadline=None)
def test_a_pooled_threshold_lets_no_more_pass_than_asked_and_each_layer_its_floor(
    one: list[float], other: list[float], floor: int, data: st.DataObject
) -> None:
    latents = {
        "a": torch.tensor(one) + torch.linspace(0, 1e-3, len(one)),
        "b": torch.tensor(other) + torch.linspace(2e-3, 3e-3, len(other)),
    }
    least = sum(min(floor, latent.numel()) for latent in latents.values())
    total = data.draw(st.integers(least, len(one) + len(other)))
    passing = count_above(latents, pooled_thresholds(latents, total, floor))
    assert sum(passing.values()) <= total


def test_layers_together_and_one_by_one_agree() -> None:
    latents = {"a": torch.randn(5, 7), "b": torch.randn(11)}
    counts = {"a": 9, "b": 0}
    thresholds = thresholds_for(latents, counts)
    assert count_above(latents, thresholds) == counts
    masks = masks_above(latents, thresholds)
    for name, mask in select_largest(latents, counts).items():
        assert torch.equal(mask, masks[name]) and torch.equal(mask, select(latents[name].abs(), counts[name]))


def test_relative_ranks_put_the_best_of_every_layer_above_minus_one() -> None:
    magnitudes = torch.tensor([[0.3, 5.0], [2.0, 1.0]])
    ranks = relative_ranks(magnitudes, 3)
    assert torch.equal(ranks > -1, select(magnitudes, 3)) and ranks.shape == magnitudes.shape


def test_masks_are_filled_up_with_the_best_that_they_lack() -> None:
    masks = {"a": torch.tensor([True, False, False]), "b": torch.tensor([False, False])}
    scores = {"a": torch.tensor([-9.0, 2.0, 1.0]), "b": torch.tensor([3.0, 0.0])}
    filled = fill_up(masks, scores, 3)
    assert filled["a"].tolist() == [True, True, False] and filled["b"].tolist() == [True, False]


@pytest.mark.parametrize("values", ["laplace", "ties", "zeros", "tiny"])
def test_the_fused_quantile_is_exact(values: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    generator = torch.Generator().manual_seed(0)
    latent = prior("laplace", 1.0).sample((5003,), generator=generator)
    latent = {
        "laplace": latent,
        "ties": (latent * 3).round() / 3,
        "zeros": torch.where(latent > 0, latent, 0),
        "tiny": latent * 1e-39,  # below the smallest normal number
    }[values]
    counts = (0, 1, 50, 2501, 5002)
    found = [threshold_for(latent, count) for count in counts]
    monkeypatch.setattr(topk, "_compiled_kernel", lambda: None)
    assert found == [threshold_for(latent, count) for count in counts]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_the_order_by_digits_is_the_stable_order(dtype: torch.dtype) -> None:
    draw = torch.Generator().manual_seed(0)
    values = torch.randn(50_000, generator=draw).mul(4).round().div(3).to(dtype)
    values[::7], values[::11], values[::13] = -torch.inf, 0.0, -0.0
    assert torch.equal(descending_order(values), values.sort(descending=True, stable=True).indices)
