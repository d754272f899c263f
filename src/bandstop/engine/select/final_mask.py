"""The connections that stay in the end: exactly as many as the budget allows, live ones only on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.select.bound_budget import Target
from bandstop.engine.select.live import live_selection
from bandstop.engine.select.macs import fill_macs
from bandstop.engine.select.topk import relative_ranks, topped_up
from bandstop.engine.select.topk_sharded import select_all
from bandstop.engine.shards.tensor import is_sharded
from bandstop.engine.trace.measure import run_trace

__all__ = ["choose_largest", "choose_live"]

ROUNDS = 8
"""How often a live selection is filled up and traced again, at most."""


def choose_largest(
    latents: Mapping[str, Tensor], counts: Mapping[str, int], target: Target, padding: Mapping[str, int]
) -> dict[str, Tensor]:
    """Masks of each layer's ``counts`` largest magnitudes; a budget in MACs is then spent to the last one that can be."""
    masks = select_all(latents, counts)
    if target.budget.kind != "macs" or any(map(is_sharded, latents.values())):
        return masks
    return fill_macs(masks, _scores(latents, counts, padding), target.costs, target.limit, floor=target.floor)


def choose_live(
    latents: Mapping[str, Tensor],
    counts: Mapping[str, int],
    target: Target,
    model: nn.Module,
    example: Any,
    padding: Mapping[str, int] | None = None,
) -> dict[str, Tensor]:
    """Masks of as many live connections as ``counts`` add up to, each layer's largest magnitudes first.

    Where so many cannot be live at once the rest are the best of the others; a budget in MACs is met from below instead, as near
    as live connections come to it.
    """
    scores = _scores(latents, counts, padding or {})
    total = sum(counts.values())
    found = live_selection(scores, total, model, example)
    if target.budget.kind != "macs":
        return found.masks if found.exact else topped_up(found.masks, scores, total)
    low, best = 1, found.masks
    high = total if target.macs(best) > target.limit else 0
    while low < high:
        middle = (low + high) // 2
        masks = live_selection(scores, middle, model, example).masks
        if target.macs(masks) <= target.limit:
            low, best = middle + 1, masks
        else:
            high = middle
    for _ in range(ROUNDS):  # what attaches to live connections is live itself, and lets more attach
        traced = run_trace(model, example, best, counting=False).weights
        attachable = {name: weight.attachable for name, weight in traced.items()}
        filled = fill_macs(best, scores, target.costs, target.limit, addable=attachable)
        if target.macs(filled) == target.macs(best):
            break
        best = filled
    return best


def _scores(
    latents: Mapping[str, Tensor], counts: Mapping[str, int], padding: Mapping[str, int]
) -> dict[str, Tensor]:
    """Ranks that make layers comparable; rows that must stay zero are out of the question."""
    scores = {name: relative_ranks(latent, counts[name]) for name, latent in latents.items()}
    for name, row in padding.items():
        scores[name][row] = -torch.inf
    return scores
