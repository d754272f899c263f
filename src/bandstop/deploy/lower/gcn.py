"""The graph convolution's program: encoder, heads in the cheaper order each, classifier.

A head's ``A X W`` is computed as ``(A X) W`` (``nodes``), ``A (X W)`` (``filters``), or at extreme sparsity
as the sum over paths ``a·w`` from node to node (``paths``), whichever costs least. Rows of a tensor are
channels, its columns the joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from bandstop.deploy.ir.program import Affine, Floats, Ints, Mask, Program, Term
from bandstop.deploy.lower.batchnorm import array, fold_gcn
from bandstop.deploy.lower.kind import Kind, Order, Variant
from bandstop.nets import NetConfig
from bandstop.nets.gcn import GCN

__all__ = ["GCN_KIND", "likely_orders", "lower_gcn", "order_costs"]


@dataclass(frozen=True)
class _Heads:
    """The folded weights of a graph convolution and how its tensors are laid out."""

    adjacency: Floats
    filters: Floats
    pitch: int
    concatenated: bool

    @property
    def joints(self) -> int:
        return int(self.adjacency.shape[1])

    @property
    def channels(self) -> int:
        return int(self.filters.shape[1])

    @property
    def width(self) -> int:
        return int(self.filters.shape[2])

    @property
    def features(self) -> int:
        return self.width * (len(self.filters) if self.concatenated else 1)

    def first_feature(self, head: int) -> int:
        return head * self.width if self.concatenated else 0

    def positions(self, rows: int) -> Ints:
        """Where value (joint, row) of a joint-major tensor lies in ours, whose rows come first."""
        return (np.arange(rows)[None, :] * self.pitch + np.arange(self.joints)[:, None]).ravel()

    def row_bias(self, offset: Floats) -> Floats:
        bias = np.zeros((len(offset), self.pitch), np.float32)
        bias[:, : self.joints] = offset[:, None]
        return bias.ravel()


def lower_gcn(net: GCN, example: Tensor, variant: Variant) -> Program:
    """The unsimplified program of a folded GCN."""
    adjacency, encoder = array(net.graph.adjacency), array(net.encoder.weight)
    heads = _Heads(
        adjacency,
        array(net.graph.filters),
        variant.pitch or adjacency.shape[1],
        net.graph.combine == "concat",
    )
    signal, pitch = encoder.shape[1], heads.pitch
    mixed_rows = _rows("signal", encoder, 0, 0, heads)
    operations = [Affine("nodes", (mixed_rows,), heads.row_bias(array(net.encoder_norm.bias)), "relu")]
    orders = variant.orders or tuple[Order, ...](["nodes"] * len(adjacency))
    operations += _graph_convolution(heads, orders, array(net.graph_norm.bias))
    source, positions = "features", heads.positions(heads.features)
    if net.dense is not None and net.dense_norm is not None:
        weight = array(net.dense.weight)
        operations.append(
            Affine("dense", (_dense(source, weight, positions),), array(net.dense_norm.bias), "relu")
        )
        source, positions = "dense", np.arange(len(weight))
    classifier = array(net.classifier.weight)
    operations.append(Affine("scores", (_dense(source, classifier, positions),), array(net.classifier.bias)))
    sizes = {"signal": signal * pitch, **{o.dst: len(o.bias) for o in operations}}
    return Program(tuple(operations), sizes, heads.positions(signal), len(classifier))


def _graph_convolution(heads: _Heads, orders: tuple[Order, ...], offset: Floats) -> list[Affine]:
    """The products that come first, and the features that sum up all heads."""
    operations: list[Affine] = []
    terms: list[Term] = []
    channels, width = heads.channels, heads.width
    first, second, third = (
        [k for k, order in enumerate(orders) if order == wanted] for wanted in ("nodes", "filters", "paths")
    )
    if first:
        mixed = [
            _columns("nodes", heads.adjacency[k], i * channels, 0, channels, heads)
            for i, k in enumerate(first)
        ]
        operations.append(_sum("mixed", mixed, len(first) * channels * heads.pitch))
        terms.append(
            _joined(
                [
                    _rows("mixed", heads.filters[k].T, heads.first_feature(k), i * channels, heads)
                    for i, k in enumerate(first)
                ]
            )
        )
    if second:
        filtered = [_rows("nodes", heads.filters[k].T, i * width, 0, heads) for i, k in enumerate(second)]
        operations.append(_sum("filtered", filtered, len(second) * width * heads.pitch))
        terms.append(
            _joined(
                [
                    _columns("filtered", heads.adjacency[k], heads.first_feature(k), i * width, width, heads)
                    for i, k in enumerate(second)
                ]
            )
        )
    if third:
        terms.append(_merged(_joined([_paths(heads, k) for k in third])))
    return [*operations, Affine("features", tuple(terms), heads.row_bias(offset), "relu")]


def _sum(dst: str, terms: list[Term], size: int) -> Affine:
    return Affine(dst, (_joined(terms),), np.zeros(size, np.float32))


def _rows(src: str, matrix: Floats, first_row: int, first_column: int, heads: _Heads) -> Term:
    """Channels mixed, the same for every joint."""
    rows, columns = np.nonzero(matrix)
    ends = (rows + first_row) * heads.pitch, (columns + first_column) * heads.pitch
    return Term(src, *ends, matrix[rows, columns], heads.joints)


def _columns(
    src: str, matrix: Floats, first_row: int, first_column: int, channels: int, heads: _Heads
) -> Term:
    """Joints mixed, the same for every channel."""
    rows, columns = np.nonzero(matrix)
    pitch = heads.pitch
    ends = rows + first_row * pitch, columns + first_column * pitch
    return Term(src, *ends, matrix[rows, columns], channels, pitch, pitch)


def _paths(heads: _Heads, head: int) -> Term:
    """Every product of a link and a filter tap as one connection."""
    adjacency, filters, pitch = heads.adjacency[head], heads.filters[head], heads.pitch
    to, source = np.nonzero(adjacency)
    channel, feature = np.nonzero(filters)
    rows = (heads.first_feature(head) + feature)[None, :] * pitch + to[:, None]
    columns = channel[None, :] * pitch + source[:, None]
    weights = adjacency[to, source][:, None] * filters[channel, feature][None, :]
    return Term("nodes", rows.ravel(), columns.ravel(), weights.ravel())


def _dense(src: str, matrix: Floats, positions: Ints) -> Term:
    rows, columns = np.nonzero(matrix)
    return Term(src, rows, positions[columns], matrix[rows, columns])


def _joined(terms: list[Term]) -> Term:
    one = terms[0]
    rows = np.concatenate([t.rows for t in terms])
    columns = np.concatenate([t.columns for t in terms])
    weights = np.concatenate([t.weights for t in terms])
    return Term(one.src, rows, columns, weights, one.width, one.dst_step, one.src_step)


def _merged(term: Term) -> Term:
    """Connections between the same two values added up."""
    pairs, inverse = np.unique(np.stack([term.rows, term.columns]), axis=1, return_inverse=True)
    weights = np.zeros(pairs.shape[1])
    np.add.at(weights, inverse.ravel(), term.weights)
    return Term(term.src, pairs[0], pairs[1], weights.astype(np.float32))


def order_costs(adjacency: Floats, filters: Floats, wanted: Mask, moving: Mask) -> dict[Order, int]:
    """Multiply-accumulates of one head in each order.

    ``adjacency`` [V, V], ``filters`` [C, F]; ``wanted`` [V, F]: live results;
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
    """Orders worth a plan: nodes for all heads, the fewest multiply-accumulates, and paths where nearly so.

    Paths leave out the values in between, so they may cost a little more arithmetic; they multiply out, so
    they are tried for all heads only while that is no more than three times the fewest.
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


def _variants(net: GCN, lanes: int) -> list[Variant]:
    pitch = -(-net.graph.adjacency.shape[1] // lanes) * lanes
    return [Variant(pitch, orders) for orders in likely_orders(net)]


def _settings(net: GCN) -> dict[str, object]:
    heads, channels, filters = net.graph.filters.shape
    found = {"channels": channels, "heads": heads, "filters": filters, "combine": net.graph.combine}
    found["dense"] = 0 if net.dense is None else net.dense.out_features
    return {name: value for name, value in found.items() if value != getattr(NetConfig(), name)}


GCN_KIND = Kind("gcn", GCN, lower_gcn, fold_gcn, _variants, _settings)
