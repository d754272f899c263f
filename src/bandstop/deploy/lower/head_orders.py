"""Which product of each head comes first, by counting the multiply-accumulates that live results need."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.lower.folding import array
from bandstop.deploy.lower.gcn import Order
from bandstop.nets.gcn import GCN

__all__ = ["likely_orders", "order_costs"]


def order_costs(
    adjacency: np.ndarray, filters: np.ndarray, wanted: np.ndarray, moving: np.ndarray
) -> dict[Order, int]:
    """Multiply-accumulates of one head: ``adjacency`` [V, V], ``filters`` [C, F], live results ``wanted`` [V, F].

    ``moving`` [C]: channels that depend on the input (the others are constants and cost nothing).

    >>> link, tap = np.eye(2), np.ones((3, 1))
    >>> order_costs(link, tap, np.ones((2, 1), bool), np.ones(3, bool))
    {'nodes': 12, 'filters': 8, 'paths': 6}
    """
    link, tap = adjacency != 0, (filters != 0) & moving[:, None]
    fan, taps = link.sum(1), tap.sum(0)
    wanted = wanted & (fan > 0)[:, None] & (taps > 0)[None, :]
    mixed = wanted.astype(int) @ tap.T.astype(int) > 0
    filtered = link.T.astype(int) @ wanted.astype(int) > 0
    return {
        "nodes": int((mixed * fan[:, None]).sum() + (wanted * taps).sum()),
        "filters": int((filtered * taps).sum() + (wanted * fan[:, None]).sum()),
        "paths": int((wanted * fan[:, None] * taps).sum()),
    }


def _costs(net: GCN) -> list[dict[Order, int]]:
    adjacency, filters = array(net.graph.adjacency), array(net.graph.filters)
    heads, joints, _ = adjacency.shape
    width = filters.shape[2]
    readers = net.classifier if net.dense is None else net.dense
    read = array(readers.weight).any(axis=0).reshape(joints, -1, width)
    moving = np.asarray(array(net.encoder.weight).any(axis=1))
    return [
        order_costs(adjacency[head], filters[head], read[:, head if read.shape[1] > 1 else 0], moving)
        for head in range(heads)
    ]


def likely_orders(net: GCN) -> list[tuple[Order, ...]]:
    """Orders worth a schedule: one order for all heads, the fewest multiply-accumulates, and paths where nearly so.

    Paths leave out the values in between, so they may cost a little more arithmetic; they multiply out, so they are
    tried for all heads only while that is no more than three times the fewest.
    """
    costs = _costs(net)
    fewest: tuple[Order, ...] = tuple(min(c, key=lambda order: c[order]) for c in costs)
    direct: tuple[Order, ...] = tuple(
        "paths" if c["paths"] <= 1.5 * c[order] else order for c, order in zip(costs, fewest, strict=True)
    )
    found: list[tuple[Order, ...]] = [tuple("nodes" for _ in costs), fewest, direct]
    if sum(c["paths"] for c in costs) <= 3 * sum(min(c.values()) for c in costs):
        found.append(tuple("paths" for _ in costs))
    return list(dict.fromkeys(found))
