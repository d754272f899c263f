"""A budget bound to a network: how many connections each layer keeps at each moment of training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.select.allocation import Allocate
from bandstop.engine.trace import effective_weights, trace
from bandstop.engine.trace.weights import all_weights
from bandstop.errors import BudgetError
from bandstop.method.budget import Budget

__all__ = ["BoundBudget"]


@dataclass(frozen=True)
class BoundBudget:
    """A budget bound to a network's layer sizes and, for MACs, to the cost of one connection in each layer.

    ``uses`` is the cost of a layer's dearest connection, ``costs`` that of each. ``fixed_macs`` are those of
    weights that are never pruned, if they count.

    >>> sizes = {"a": 100, "b": 300}
    >>> bound = BoundBudget(Budget.rate(0.9), sizes, unpruned=7, floor=1, uses={})
    >>> bound.connections, bound.total(0.5)
    (40, 220)
    """

    budget: Budget
    sizes: Mapping[str, int]
    unpruned: int
    floor: int
    uses: Mapping[str, int]
    costs: Mapping[str, Tensor] = field(default_factory=dict, repr=False)
    fixed_macs: int = 0
    stacked: frozenset[str] = frozenset()
    """Layers that are stacks of matrices."""

    @staticmethod
    def of(
        model: nn.Module,
        weights: Mapping[str, Tensor],
        budget: Budget,
        floor: int,
        example: Any,
        sizes: Mapping[str, int] | None = None,
    ) -> BoundBudget:
        """Bind ``budget`` to the prunable ``weights`` of ``model``; MACs are counted on the ``example``.

        ``sizes`` are given where not all entries of a weight may be kept.
        """
        sizes = sizes or {name: weight.numel() for name, weight in weights.items()}
        unpruned = sum(p.numel() for p in model.parameters()) - sum(sizes.values())
        stacked = frozenset(name for name, weight in weights.items() if _is_stack(model, name, weight))
        if budget.kind != "macs":
            return BoundBudget(budget, sizes, unpruned, floor, {}, stacked=stacked)
        if example is None:
            raise BudgetError("a budget in MACs needs an example input to count them: give example=…")
        found = trace(
            model, example, {name: torch.ones_like(weight) for name, weight in weights.items()}
        ).weights
        costs = {name: _compact(found[name].uses.to(weights[name].device)) for name in sizes}
        fixed = _unpruned_macs(model, example, weights) if budget.scope == "network" else 0
        uses = {n: int(c.max()) for n, c in costs.items()}
        return BoundBudget(budget, sizes, unpruned, floor, uses, costs, fixed, stacked)

    def __post_init__(self) -> None:
        """Refuse impossible budgets before anything is touched."""
        if self.budget.kind == "macs":
            if self.fixed_macs >= self.budget.amount:
                raise BudgetError(
                    f"{self.budget.describe()} cannot be met: {self.fixed_macs:,} MACs are those of weights "
                    "that are never pruned"
                )
            empty = dict.fromkeys(self.sizes, 0)
            self._macs_budget(self.most_macs).fit_macs(empty, self.uses, self.sizes, self.floor)
        else:
            _ = self.connections

    @property
    def prunable(self) -> int:
        """All prunable weights."""
        return sum(self.sizes.values())

    @property
    def most_macs(self) -> int:
        """Multiply-accumulates that a budget in MACs leaves to the prunable weights."""
        return int(self.budget.amount) - self.fixed_macs

    @cached_property
    def connections(self) -> int:
        """Connections that the budget allows in the end (not known beforehand for a budget in MACs)."""
        smallest = sum(min(self.floor, n) for n in self.sizes.values())
        return self.budget.connections(prunable=self.prunable, unpruned=self.unpruned, smallest=smallest)

    def macs(self, masks: Mapping[str, Tensor]) -> int:
        """Multiply-accumulates of the connections in ``masks``."""
        return sum(int((self.costs[name] * mask).sum(dtype=torch.int64)) for name, mask in masks.items())

    def total(self, ramp: float) -> int:
        """Connections in all when ``ramp`` (0 … 1) of the final pruning applies: ``n − ramp·(n − N)``."""
        return round(self.prunable - ramp * (self.prunable - self.connections))

    def counts(self, ramp: float, allocate: Allocate, magnitudes: Mapping[str, Tensor]) -> dict[str, int]:
        """Connections per layer when ``ramp`` (0 … 1) of the final pruning applies, split by ``allocate``.

        Kept in all: ``n − ramp·(n − N)`` of n weights, N the budget. For MACs the same with
        multiply-accumulates, every connection of a layer counted like its dearest.
        """
        if self.budget.kind != "macs":
            return allocate(self.total(ramp), magnitudes)
        dense = sum(self.uses[n] * size for n, size in self.sizes.items())
        asked = round(dense - ramp * (dense - min(self.most_macs, dense)))
        now = self._macs_budget(max(1, min(dense, asked)))
        low, high = sum(min(self.floor, n) for n in self.sizes.values()), self.prunable
        while low < high:
            middle = (low + high + 1) // 2
            counts = allocate(middle, magnitudes)
            fits = sum(counts[n] * self.uses[n] for n in counts) <= now.amount
            low, high = (middle, high) if fits else (low, middle - 1)
        return now.fit_macs(allocate(low, magnitudes), self.uses, self.sizes, self.floor)

    def _macs_budget(self, amount: int) -> Budget:
        return Budget.macs(amount, scope=self.budget.scope)


def _is_stack(model: nn.Module, name: str, weight: Tensor) -> bool:
    """Whether a weight of three or more dimensions holds matrices, one per head for instance, not kernels."""
    owner = model.get_submodule(name.rpartition(".")[0])
    return weight.ndim > 2 and not isinstance(owner, nn.modules.conv._ConvNd)


def _compact(uses: Tensor) -> Tensor:
    """The same numbers; a single one where all are equal."""
    lowest, highest = uses.min(), uses.max()
    return highest.expand(uses.shape) if bool(lowest == highest) else uses


def _unpruned_macs(model: nn.Module, example: Any, pruned: Mapping[str, Tensor]) -> int:
    """Multiply-accumulates of the weights that are not ``pruned``, exact zeros left out."""
    same = {id(tensor) for name, tensor in all_weights(model) if name in pruned}
    others = {
        n: tensor
        for n, tensor in effective_weights(model).items()
        if n not in pruned and id(tensor) not in same
    }
    return trace(model, example, others).macs if others else 0
