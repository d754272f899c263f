"""Which product of each head comes first, by counting the multiply-accumulates that live results need."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.folding import array
from bandstop.deploy.lower_gcn import Order
from bandstop.nets.gcn import GCN

__all__ = ["cheapest_orders", "order_costs"]


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


def cheapest_orders(net: GCN) -> tuple[Order, ...]:
    """The cheapest order of every head, from the network's zeros alone."""
    adjacency, filters = array(net.graph.adjacency), array(net.graph.filters)
    heads, joints, _ = adjacency.shape
    width = filters.shape[2]
    readers = net.classifier if net.dense is None else net.dense
    read = array(readers.weight).any(axis=0).reshape(joints, -1, width)
    moving = np.asarray(array(net.encoder.weight).any(axis=1))
    chosen: list[Order] = []
    for head in range(heads):
        wanted = read[:, head if read.shape[1] > 1 else 0]
        costs = order_costs(adjacency[head], filters[head], wanted, moving)
        chosen.append(min(costs, key=lambda order: costs[order]))
    return tuple(chosen)
