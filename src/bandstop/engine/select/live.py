"""Selecting an exact number of connections that are all live, or as many as a number of MACs pays for.

Liveness is monotone: adding connections never makes one dead (``S ⊆ T`` implies ``live(S) ⊆ live(T)``), and
the live part of a set is live by itself. So with the connections in order of their score,

1. find the longest head of the order whose live part has at most the asked number of connections;
2. fill this live part up with the best *attachable* connections, those between a unit that varies and one
   that matters: each one is live as soon as it is added and adds exactly one;
3. if there are too few of those, the next connection of the order would bring more with it than there is room
   for: move it to the front and start again, so that what it completes can be had in smaller portions.

Where connections cost different numbers of multiply-accumulates, what they cost takes the place of their
number: it grows with the head as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.select.macs import fill_flat
from bandstop.engine.select.topk import descending_order, select
from bandstop.engine.trace.measure import Topology, run_trace
from bandstop.errors import BudgetError, ModelError

__all__ = ["Selection", "live_selection"]


ROUNDS = 8
"""How often a selection that costs MACs is filled up and traced again, at most."""
NEAR = 10_000
"""A selection that leaves less than this part of its MACs is spent."""
ENOUGH, ENOUGH_MACS = 0.99, 0.9
"""A head whose live part spends this share of what was asked is filled up instead of looking further."""


@dataclass(frozen=True)
class Selection:
    """Masks of live connections; ``count`` of them, which is the asked number if ``exact``.

    Where connections have costs ``count`` is what they cost in all. ``traces`` is how often the network was
    traced; ``largest`` is the most that can be live at once.
    """

    masks: dict[str, Tensor]
    count: int
    exact: bool
    traces: int
    largest: int


class _Search:
    """Heads of an order of all candidate connections, and their live parts."""

    def __init__(
        self,
        scores: Mapping[str, Tensor],
        asked: int,
        model: nn.Module,
        example: Any,
        costs: Mapping[str, Tensor] | None,
    ) -> None:
        self.model, self.example, self.asked, self.traces = model, example, asked, 0
        self.shapes = {name: score.shape for name, score in scores.items()}
        self.sizes = [shape.numel() for shape in self.shapes.values()]
        self.score = torch.cat([_as_sorted(score.detach().reshape(-1)) for score in scores.values()])
        if torch.isnan(self.score).any():
            raise ModelError(
                "scores must be numbers; found NaN; give −inf to connections that must not be selected"
            )
        self.cost = None if costs is None else torch.cat([costs[n].reshape(-1).cpu() for n in self.shapes])
        self.allowed = self.score > -torch.inf
        order = descending_order(self.score)
        self.rank = torch.empty(len(order), dtype=torch.int32)
        self.rank[order] = torch.arange(len(order), dtype=torch.int32)
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

    def spent(self, mask: Tensor) -> int:
        """What the connections of ``mask`` count towards the asked number: one each, or what they cost."""
        return int(torch.count_nonzero(mask) if self.cost is None else self.cost[mask].sum())

    def is_full(self, mask: Tensor) -> bool:
        """Whether as much is spent as was asked for, or what is left is next to nothing."""
        left = self.asked - self.spent(mask)
        return left <= (0 if self.cost is None else self.asked // NEAR)

    def filled(self, live: Tensor) -> Tensor:
        """``live`` filled up with the best attachable connections, as many as there is room for."""
        for _ in range(ROUNDS):  # what attaches to live connections is live itself, and lets more attach
            room = self.asked - self.spent(live)
            if room == 0:
                return live
            attachable = self.trace(live)[1]
            if self.cost is None:
                best = torch.where(attachable, -self.rank, -len(self.rank))
                return live | select(best, min(room, int(torch.count_nonzero(attachable))))
            more = fill_flat(live, self.score, self.cost, self.asked, self.sizes, addable=attachable)
            if self.spent(more) == self.spent(live):
                return live
            live = more
        return live

    def split(self, flat: Tensor) -> dict[str, Tensor]:
        parts = zip(self.shapes.items(), torch.split(flat, self.sizes), strict=True)
        return {name: part.view(shape) for (name, shape), part in parts}

    def _join(self, found: Topology, field: str) -> Tensor:
        return torch.cat([getattr(found.weights[name], field).reshape(-1).cpu() for name in self.shapes])


def _as_sorted(score: Tensor) -> Tensor:
    """Scores on the processor, in a type that can be sorted quickly and holds them exactly."""
    return score.to("cpu", torch.float32 if score.dtype == torch.float32 else torch.float64)


def live_selection(
    scores: Mapping[str, Tensor],
    count: int,
    model: nn.Module,
    example: Any,
    *,
    costs: Mapping[str, Tensor] | None = None,
    begin: int | None = None,
    most_traces: int = 200,
) -> Selection:
    """Exactly ``count`` connections with high scores, all live; deterministic, ties go to the first in order.

    ``scores`` has a tensor of each weight's shape, by effective name; −inf excludes a connection. If no live
    set of that size exists, or none is found within ``most_traces``, the largest one below is returned and
    ``exact`` is false. With ``costs`` of the same shapes ``count`` is what the connections may cost in all,
    and ``begin`` is a guess at how many that is.

    >>> net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    >>> ranks = {"0.weight": torch.tensor([[9.0, 8.0], [0.0, 0.0]]), "1.weight": torch.tensor([[1.0, 7.0]])}
    >>> found = live_selection(ranks, 3, net, torch.ones(1, 2))
    >>> found.masks["0.weight"].tolist(), found.masks["1.weight"].tolist(), found.exact
    ([[True, True], [False, False]], [[True, False]], True)
    """
    if count < 0:
        raise BudgetError(f"the number of connections must not be negative; found {count}")
    search = _Search(scores, count, model, example, costs)
    everything = search.trace(search.allowed)[0]
    largest = search.spent(everything)
    best = everything if largest <= count else torch.zeros_like(everything)
    long, brings, promoted = search.candidates, largest, 0
    while largest > count and not search.is_full(best) and promoted <= count and search.traces < most_traces:
        head = _longest_head(search, count if begin is None else begin, long, brings)
        best = head.grown if search.spent(head.grown) > search.spent(best) else best
        search.promote(head.length)
        long, brings, promoted = head.length + 1, head.next_brings, promoted + 1
    masks = {name: part.to(scores[name].device) for name, part in search.split(best).items()}
    return Selection(masks, search.spent(best), search.spent(best) == count, search.traces, largest)


@dataclass(frozen=True)
class _Head:
    """A head of the order, its live part filled up, and what the live part of one too long spends."""

    length: int
    grown: Tensor
    next_brings: int


def _longest_head(search: _Search, guess: int, long: int, brings: int) -> _Head:
    """The longest head whose live part spends no more than asked; that of length ``long`` spends ``brings``.

    Interpolation and bisection in turn; a head whose live part spends nearly what was asked and can be filled
    up is long enough.
    """
    asked, interpolates = search.asked, True
    enough = asked * (ENOUGH if search.cost is None else ENOUGH_MACS)
    short, best, below = 0, torch.zeros_like(search.allowed), 0
    guess = min(guess, long - 1)
    while True:
        live, _ = search.trace(search.head(guess))
        number = search.spent(live)
        if number <= asked:
            short, best, below = guess, live, number
            if below >= enough and search.is_full(grown := search.filled(best)):
                return _Head(short, grown, brings)
        else:
            long, brings = guess, number
        if long - short <= 1:
            return _Head(short, search.filled(best), brings)
        share = (asked - below) / (brings - below) if interpolates else 0.5
        guess = min(max(short + int(share * (long - short)), short + 1), long - 1)
        interpolates = not interpolates
