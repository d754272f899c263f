"""Selecting an exact number of connections that are all live.

Liveness is monotone: adding connections never makes one dead (``S ⊆ T`` implies ``live(S) ⊆ live(T)``), and
the live part of a set is live by itself. So with the connections in order of their score,

1. find the longest head of the order whose live part has at most the asked number of connections;
2. fill this live part up with the best *attachable* connections, those between a unit that varies and one
   that matters: each one is live as soon as it is added and adds exactly one;
3. if there are too few of those, the next connection of the order would bring more with it than there is room
   for: move it to the front and start again, so that what it completes can be had in smaller portions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.trace.measure import Topology, run_trace
from bandstop.errors import BudgetError, ModelError

__all__ = ["Selection", "live_selection"]


@dataclass(frozen=True)
class Selection:
    """Masks of live connections; ``count`` of them, which is the asked number if ``exact``.

    ``traces`` is how often the network was traced; ``largest`` is the number of connections that can be live
    at once.
    """

    masks: dict[str, Tensor]
    count: int
    exact: bool
    traces: int
    largest: int


class _Search:
    """Heads of an order of all candidate connections, and their live parts."""

    def __init__(self, scores: Mapping[str, Tensor], model: nn.Module, example: Any) -> None:
        self.model, self.example, self.traces = model, example, 0
        self.shapes = {name: score.shape for name, score in scores.items()}
        flat = torch.cat([score.detach().reshape(-1).to("cpu", torch.float64) for score in scores.values()])
        if torch.isnan(flat).any():
            raise ModelError(
                "scores must be numbers; found NaN; give −inf to connections that must not be selected"
            )
        self.allowed = flat > -torch.inf
        order = torch.sort(flat, descending=True, stable=True).indices
        self.rank = torch.empty_like(order)
        self.rank[order] = torch.arange(len(order))
        self.candidates = int(self.allowed.sum())

    def promote(self, rank: int) -> None:
        """Move the connection of this ``rank`` to the front."""
        moved = self.rank == rank
        self.rank[self.rank < rank] += 1
        self.rank[moved] = 0

    def trace(self, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Live and attachable connections, both flat, if exactly those of the flat ``mask`` are kept."""
        self.traces += 1
        found = run_trace(self.model, self.example, self.split(mask), counting=False)
        return self._join(found, "live"), self._join(found, "attachable") & self.allowed

    def head(self, length: int) -> Tensor:
        return (self.rank < length) & self.allowed

    def best(self, among: Tensor, count: int) -> Tensor:
        """The ``count`` first in the order ``among`` some."""
        ranks = torch.where(among, self.rank, len(self.rank))
        mask = torch.zeros_like(among)
        mask[torch.topk(ranks, count, largest=False).indices] = True
        return mask

    def split(self, flat: Tensor) -> dict[str, Tensor]:
        sizes = [shape.numel() for shape in self.shapes.values()]
        parts = zip(self.shapes.items(), torch.split(flat, sizes), strict=True)
        return {name: part.view(shape) for (name, shape), part in parts}

    def _join(self, found: Topology, field: str) -> Tensor:
        return torch.cat([getattr(found.weights[name], field).reshape(-1).cpu() for name in self.shapes])


def live_selection(
    scores: Mapping[str, Tensor], count: int, model: nn.Module, example: Any, *, most_traces: int = 200
) -> Selection:
    """Exactly ``count`` connections with high scores, all live; deterministic, ties go to the first in order.

    ``scores`` has a tensor of each weight's shape, by effective name; −inf excludes a connection. If no live
    set of that size exists, or none is found within ``most_traces``, the largest one below is returned and
    ``exact`` is false.

    >>> net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    >>> ranks = {"0.weight": torch.tensor([[9.0, 8.0], [0.0, 0.0]]), "1.weight": torch.tensor([[1.0, 7.0]])}
    >>> found = live_selection(ranks, 3, net, torch.ones(1, 2))
    >>> found.masks["0.weight"].tolist(), found.masks["1.weight"].tolist(), found.exact
    ([[True, True], [False, False]], [[True, False]], True)
    """
    if count < 0:
        raise BudgetError(f"the number of connections must not be negative; found {count}")
    search = _Search(scores, model, example)
    everything = search.trace(search.allowed)[0]
    largest = int(everything.sum())
    best = everything if largest <= count else torch.zeros_like(everything)
    long, brings, promoted = search.candidates, largest, 0
    while int(best.sum()) < min(count, largest) and promoted <= count and search.traces < most_traces:
        head = _longest_head(search, count, long, brings)
        best = head.grown if int(head.grown.sum()) > int(best.sum()) else best
        search.promote(head.length)
        long, brings, promoted = head.length + 1, head.next_brings, promoted + 1
    masks = {name: part.to(scores[name].device) for name, part in search.split(best).items()}
    return Selection(masks, int(best.sum()), int(best.sum()) == count, search.traces, largest)


@dataclass(frozen=True)
class _Head:
    """A head of the order, its live part filled up, and how many are live in the one that is too long."""

    length: int
    grown: Tensor
    next_brings: int


def _longest_head(search: _Search, count: int, long: int, brings: int) -> _Head:
    """The longest head with at most ``count`` live connections; that of length ``long`` has ``brings``.

    Interpolation and bisection in turn; a head whose live part is within a hundredth of ``count`` and can be
    filled up is long enough.
    """
    short, guess, interpolates = count, count, True
    while True:
        live, _ = search.trace(search.head(guess))
        number = int(live.sum())
        if number <= count:
            short, best, below = guess, live, number
            if below >= 0.99 * count and int((grown := _filled(search, best, count)).sum()) == count:
                return _Head(short, grown, brings)
        else:
            long, brings = guess, number
        if long - short <= 1:
            return _Head(short, _filled(search, best, count), brings)
        share = (count - below) / (brings - below) if interpolates else 0.5
        guess = min(max(short + int(share * (long - short)), short + 1), long - 1)
        interpolates = not interpolates


def _filled(search: _Search, live: Tensor, count: int) -> Tensor:
    """``live`` filled up to ``count`` with the best attachable connections."""
    room = count - int(live.sum())
    if room == 0:
        return live
    attachable = search.trace(live)[1]
    return live | search.best(attachable, min(room, int(attachable.sum())))
