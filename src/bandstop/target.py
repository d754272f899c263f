"""What a budget means at each moment of training: how many connections each layer keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from bandstop.budget import Budget
from bandstop.errors import BudgetError
from bandstop.topology import trace

__all__ = ["Target"]


@dataclass(frozen=True)
class Target:
    """A budget bound to a network's layer sizes (and, for MACs, to the cost of one connection in each layer)."""

    budget: Budget
    sizes: Mapping[str, int]
    unpruned: int
    floor: int
    uses: Mapping[str, int]

    @staticmethod
    def of(
        model: nn.Module, weights: Mapping[str, Tensor], budget: Budget, floor: int, example: Any
    ) -> Target:
        """Bind ``budget`` to the prunable ``weights`` of ``model``; MACs are counted on the ``example`` input."""
        sizes = {name: weight.numel() for name, weight in weights.items()}
        unpruned = sum(p.numel() for p in model.parameters()) - sum(sizes.values())
        uses: dict[str, int] = {}
        if budget.kind == "macs":
            if example is None:
                raise BudgetError("a budget in MACs needs an example input to count them: give example=…")
            traced = trace(model, example, weights)
            uses = {name: max(1, int(traced.weights[name].uses.max())) for name in sizes}
        return Target(budget, sizes, unpruned, floor, uses)

    def __post_init__(self) -> None:
        """Refuse impossible budgets before anything is touched."""
        if self.budget.kind == "macs":
            self.budget.fit_macs(dict.fromkeys(self.sizes, 0), self.uses, self.sizes, self.floor)
        else:
            self.connections()

    @property
    def prunable(self) -> int:
        """All prunable weights."""
        return sum(self.sizes.values())

    def connections(self) -> int:
        """Connections that the budget allows in the end (not known beforehand for a budget in MACs)."""
        smallest = sum(min(self.floor, n) for n in self.sizes.values())
        return self.budget.connections(prunable=self.prunable, unpruned=self.unpruned, smallest=smallest)

    def macs(self, masks: Mapping[str, Tensor]) -> int:
        """Multiply-accumulates of the connections in ``masks``."""
        return sum(int(mask.sum()) * self.uses[name] for name, mask in masks.items())

    def counts(self, share: float, allocate: Callable[[int], dict[str, int]]) -> dict[str, int]:
        """Connections per layer when ``share`` (0 … 1) of the final pruning applies; ``allocate`` splits a number of them.

        Kept in all: ``n − share·(n − N)`` of n weights, N the budget; for MACs the same with multiply-accumulates.
        """
        if self.budget.kind != "macs":
            return allocate(round(self.prunable - share * (self.prunable - self.connections())))
        dense = sum(self.uses[n] * size for n, size in self.sizes.items())
        now = Budget.macs(max(1, min(dense, round(dense - share * (dense - min(self.budget.amount, dense))))))
        low, high = sum(min(self.floor, n) for n in self.sizes.values()), self.prunable
        while low < high:
            middle = (low + high + 1) // 2
            counts = allocate(middle)
            fits = sum(counts[n] * self.uses[n] for n in counts) <= now.amount
            low, high = (middle, high) if fits else (low, middle - 1)
        return now.fit_macs(allocate(low), self.uses, self.sizes, self.floor)
