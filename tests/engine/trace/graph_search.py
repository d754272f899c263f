"""The oracle: a network written out as a graph, an edge a multiplication, searched with plain loops."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from itertools import product as grid

import torch
from torch import Tensor, nn

from bandstop.engine.trace import Topology, effective_weights

Node = Hashable
Place = tuple[str, tuple[int, ...]]  # a weight's name and an index into it


@dataclass
class Graph:
    """Edges ``(source, target, place of the weight or None)``, and the weights' 0/1 masks by name."""

    masks: dict[str, Tensor]
    edges: list[tuple[Node, Node, Place | None]] = field(default_factory=list)
    inputs: set[Node] = field(default_factory=set)
    outputs: set[Node] = field(default_factory=set)

    def wire(self, source: Node, target: Node, name: str | None = None, index: tuple[int, ...] = ()) -> None:
        self.edges.append((source, target, None if name is None else (name, index)))

    def linear(self, name: str, sources: list[Node], targets: list[Node], rows: int = 0) -> None:
        for o, i in grid(range(len(targets)), range(len(sources))):
            self.wire(sources[i], targets[o], name, (rows + o, i))

    def kept(self, place: Place | None) -> bool:
        return place is None or bool(self.masks[place[0]][place[1]])

    def _closure(self, start: Iterable[Node], forwards: bool) -> set[Node]:
        onward = defaultdict(list)
        for source, target, place in self.edges:
            if self.kept(place):
                onward[source if forwards else target].append(target if forwards else source)
        seen, todo = set(start), list(start)
        while todo:
            for node in onward[todo.pop()]:
                if node not in seen:
                    seen.add(node)
                    todo.append(node)
        return seen

    def solve(self) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, int]]:
        """Live masks, dense uses, and live multiply-accumulates of each weight."""
        varies, matters = self._closure(self.inputs, True), self._closure(self.outputs, False)
        dense, live = Counter(), Counter()
        for source, target, place in self.edges:
            if place is not None:
                dense[place] += 1
                if self.kept(place) and source in varies and target in matters:
                    live[place] += 1
        shaped = {name: torch.zeros(mask.shape, dtype=torch.int64) for name, mask in self.masks.items()}
        uses = {name: zeros.clone() for name, zeros in shaped.items()}
        for (name, index), number in live.items():
            shaped[name][index] = number
        for (name, index), number in dense.items():
            uses[name][index] = number
        macs = {name: int(numbers.sum()) for name, numbers in shaped.items()}
        return {name: numbers > 0 for name, numbers in shaped.items()}, uses, macs


def prune(model: nn.Module, density: float, seed: int) -> dict[str, Tensor]:
    """Set a random part of each weight to exact zeros; what is left is not zero."""
    generator = torch.Generator().manual_seed(seed)
    masks = {}
    for name, weight in effective_weights(model).items():
        masks[name] = torch.rand(weight.shape, generator=generator) < density
        weight.data = torch.where(
            masks[name], torch.randn(weight.shape, generator=generator).abs() + 0.1, 0.0
        )
    return masks


def agrees(found: Topology, graph: Graph) -> None:
    live, uses, macs = graph.solve()
    assert list(found.weights) == list(graph.masks)
    for name, weight in found.weights.items():
        assert torch.equal(weight.live, live[name]), name
        assert torch.equal(weight.uses.long(), uses[name]), name
        assert weight.macs_live == macs[name], name
        assert weight.macs_dense == int(uses[name].sum())
        assert weight.macs_nominal == int(uses[name][graph.masks[name]].sum())
        assert (weight.total, weight.kept) == (graph.masks[name].numel(), int(graph.masks[name].sum()))
    assert found.live == sum(int(mask.sum()) for mask in live.values())
    assert found.macs_live == sum(macs.values())
