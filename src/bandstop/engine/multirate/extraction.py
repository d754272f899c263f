"""Which connections a budget extracts from shared latents, and with which thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from bandstop.engine.multirate.shared import SharedThresholds
from bandstop.engine.select.live import live_selection
from bandstop.engine.select.topk import fill_up, masks_above, relative_ranks, select
from bandstop.engine.trace.measure import run_trace

__all__ = ["Extraction", "by_live_paths", "by_magnitude"]

Allocate = Callable[[int], dict[str, int]]


@dataclass(frozen=True)
class Extraction:
    """Masks of the asked connections; thresholds, how many latents are to exceed them, and the scales of the
    prior where latents are held to it.
    """

    masks: dict[str, Tensor]
    thresholds: dict[str, Tensor]
    counts: dict[str, int]
    scales: dict[str, Tensor] | None


def by_magnitude(
    latents: Mapping[str, Tensor], counts: Mapping[str, int], shared: SharedThresholds
) -> Extraction:
    """The largest latents of each layer.

    >>> import torch
    >>> from bandstop.engine.recipe import Recipe
    >>> latents = {"a": torch.tensor([3.0, -1.0, 2.0, 0.5])}
    >>> by_magnitude(latents, {"a": 1}, SharedThresholds(latents, Recipe())).masks
    {'a': tensor([ True, False, False, False])}
    """
    masks = {name: select(latent.abs(), counts[name]) for name, latent in latents.items()}
    return Extraction(masks, shared(counts), dict(counts), shared.scales)


def by_live_paths(
    latents: Mapping[str, Tensor],
    kept: int,
    allocate: Allocate,
    shared: SharedThresholds,
    model: nn.Module,
    example: Any,
) -> Extraction:
    """Exactly ``kept`` live connections.

    Of the n that exceed their thresholds some are dead: they lead to nothing, and dropping them changes
    nothing. So the rate is lowered to the largest n whose live connections do not exceed ``kept``: the
    network computes what it was trained to compute at that rate. The few that are still missing are filled in
    with the best connections that attach to those.
    """
    sizes = sum(latent.numel() for latent in latents.values())

    def live(total: int) -> int:
        masks = masks_above(latents, shared(allocate(total)))
        found = run_trace(model, example, masks, counting=False)
        return sum(weight.live_count for weight in found.weights.values())

    low, high = kept, sizes + 1  # live(low) ≤ kept; more than all of them cannot be
    step = max(1, kept // 64)
    while low + step < high and live(low + step) <= kept:  # dead connections are few: look near first
        low, step = low + step, 2 * step
    high = min(high, low + step)
    while high - low > max(1, kept // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if live(middle) <= kept else (low, middle)
    counts = allocate(low)
    scores = {name: relative_ranks(latent, counts[name]) for name, latent in latents.items()}
    found = live_selection(scores, kept, model, example)
    masks = found.masks if found.exact else fill_up(found.masks, scores, kept)
    return Extraction(masks, shared(counts), counts, shared.scales)
