"""The final mask: exactly as many connections as the budget allows, only live ones on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.select.bound_budget import BoundBudget
from bandstop.engine.select.live import live_selection
from bandstop.engine.select.macs import fill_macs
from bandstop.engine.select.topk import fill_up, relative_ranks, select_largest
from bandstop.engine.shards.tensor import is_sharded

__all__ = ["largest_masks", "live_masks"]

MOST_TRACES = 60
"""How often a network is traced to spend MACs on live connections, at most."""


def largest_masks(
    latents: Mapping[str, Tensor],
    counts: Mapping[str, int],
    bound: BoundBudget,
    padding: Mapping[str, int] | None = None,
) -> dict[str, Tensor]:
    """Masks of each layer's ``counts`` largest magnitudes; a budget in MACs is spent as far as can be.

    ``padding`` names the row of a table that stays zero.
    """
    masks = select_largest(latents, counts)
    if bound.budget.kind != "macs" or any(map(is_sharded, latents.values())):
        return masks
    scores = _scores(latents, counts, padding or {})
    return fill_macs(masks, scores, bound.costs, bound.most_macs, floor=bound.floor)


def live_masks(
    latents: Mapping[str, Tensor],
    counts: Mapping[str, int],
    bound: BoundBudget,
    model: nn.Module,
    example: Any,
    padding: Mapping[str, int] | None = None,
) -> dict[str, Tensor]:
    """Masks of as many live connections as ``counts`` add up to, each layer's largest magnitudes first.

    Where so many cannot be live at once the rest are the best of the others. A budget in MACs is met from
    below instead, as near as live connections come to it.
    """
    scores = _scores(latents, counts, padding or {})
    total = sum(counts.values())
    if bound.budget.kind == "macs":
        costs, most = bound.costs, bound.most_macs
        return live_selection(
            scores, most, model, example, costs=costs, begin=total, most_traces=MOST_TRACES
        ).masks
    found = live_selection(scores, total, model, example)
    return found.masks if found.exact else fill_up(found.masks, scores, total)


def _scores(
    latents: Mapping[str, Tensor], counts: Mapping[str, int], padding: Mapping[str, int]
) -> dict[str, Tensor]:
    """Ranks that make layers comparable; rows that must stay zero are out of the question."""
    scores = {name: relative_ranks(latent, counts[name]) for name, latent in latents.items()}
    for name, row in padding.items():
        scores[name][row] = -torch.inf
    return scores
