"""What a budget means at each moment of training: how many connections each layer keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor

from bandstop.budget import Budget

__all__ = ["Target"]


@dataclass(frozen=True)
class Target:
    """A budget bound to a network's layer sizes (and, for MACs, to the cost of one connection in each layer)."""

    budget: Budget
    sizes: Mapping[str, int]
    unpruned: int
    floor: int
    uses: Mapping[str, int]

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
