"""Which connections a budget extracts from shared latents, and the thresholds that its weights are made with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from bandstop.engine.select.live import live_selection
from bandstop.engine.select.topk import cut_value, relative_ranks, select, topped_up
from bandstop.engine.trace.measure import run_trace

__all__ = ["Extraction", "by_live_paths", "by_magnitude", "make_plain", "refresh_recurrent"]

Allocate = Callable[[int], dict[str, int]]


@dataclass(frozen=True)
class Extraction:
    """Masks with exactly the asked number of connections; thresholds, how many latents pass them, and the rate that this is."""

    masks: dict[str, Tensor]
    thresholds: dict[str, Tensor]
    counts: dict[str, int]
    rate: float


def by_magnitude(latents: Mapping[str, Tensor], counts: Mapping[str, int]) -> Extraction:
    """The largest latents of each layer.

    >>> by_magnitude({"a": torch.tensor([3.0, -1.0, 2.0, 0.5])}, {"a": 1}).rate
    0.75
    """
    masks = {name: select(latent.abs(), counts[name]) for name, latent in latents.items()}
    thresholds = {name: cut_value(latent, counts[name]) for name, latent in latents.items()}
    return Extraction(
        masks, thresholds, dict(counts), 1 - sum(counts.values()) / sum(m.numel() for m in masks.values())
    )


def by_live_paths(
    latents: Mapping[str, Tensor], kept: int, allocate: Allocate, model: nn.Module, example: Any
) -> Extraction:
    """Exactly ``kept`` live connections.

    Of the n largest latents some are dead: they lead to nothing, and dropping them changes nothing. So the rate is lowered to the
    largest n whose live connections do not exceed ``kept``: the network computes what it was trained to compute at that rate. The
    few that are still missing are filled in with the best connections that attach to those.
    """
    sizes = sum(latent.numel() for latent in latents.values())

    def live(total: int) -> int:
        masks = by_magnitude(latents, allocate(total)).masks
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
    masks = found.masks if found.exact else topped_up(found.masks, scores, kept)
    return Extraction(masks, by_magnitude(latents, counts).thresholds, counts, 1 - low / sizes)


@torch.no_grad()
def make_plain(model: nn.Module, weights: Mapping[int, Tensor]) -> None:
    """Take every parametrisation off ``model``, a deep copy, leaving plain parameters.

    ``weights`` has the values of gated tensors by the identity of their latent; others keep what they are at present. A copy shares
    its modules' generated classes with the original, so the classes are left alone, unlike in ``remove_parametrizations``.
    """
    written: set[int] = set()
    for module in list(model.modules()):
        if not parametrize.is_parametrized(module):
            continue
        latents: dict[str, nn.Parameter] = {}
        for name, made in module.parametrizations.items():  # type: ignore[operator,union-attr]
            latents[name] = latent = made.original
            if id(latent) not in written:  # tied weights have one latent and several owners
                latent.copy_(weights[id(latent)] if id(latent) in weights else getattr(module, name))
                written.add(id(latent))
        plain = parametrize.type_before_parametrizations(module)
        del module.parametrizations
        module.__class__ = plain
        for name, latent in latents.items():
            module.register_parameter(name, latent)
    refresh_recurrent(model)


@torch.no_grad()
def refresh_recurrent(model: nn.Module) -> None:
    """Recurrent layers keep a list of their weights: make it anew from the present ones."""
    for module in model.modules():
        if isinstance(module, nn.RNNBase):
            module._flat_weights = [getattr(module, name) for name in module._flat_weights_names]
