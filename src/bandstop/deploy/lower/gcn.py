"""The graph convolution's program: encoder, heads in the cheaper order each, classifier.

A head's ``A X W`` is computed as ``(A X) W`` (``nodes``), ``A (X W)`` (``filters``), or at extreme sparsity as the sum over
paths ``a·w`` from node to node (``paths``), whichever costs least. Rows of a tensor are channels, its columns the joints.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.ir.program import Affine, Program, Term
from bandstop.deploy.lower.folding import array, norm_affine
from bandstop.nets.gcn import GCN

__all__ = ["Order", "lower_gcn"]

Order = Literal["nodes", "filters", "paths"]
Floats = NDArray[np.float32]


def lower_gcn(net: GCN, *, pitch: int | None = None, orders: tuple[Order, ...] | None = None) -> Program:
    """The unsimplified program of a GCN."""
    adjacency, filters = array(net.graph.adjacency), array(net.graph.filters)
    heads, joints, _ = adjacency.shape
    _, channels, width = filters.shape
    pitch = pitch or joints
    orders = orders or ("nodes",) * heads
    factor, offset = norm_affine(net.encoder_norm, "encoder_norm")
    encoder = array(net.encoder.weight) * factor[:, None]
    signal = encoder.shape[1]
    operations = [_rows("nodes", "signal", encoder, offset, joints, pitch)]

    concatenated = net.graph.combine == "concat"
    features = width * (heads if concatenated else 1)
    factor, offset = norm_affine(net.graph_norm, "graph_norm")
    by_head = factor.reshape(-1, width) if concatenated else np.repeat(factor[None], heads, axis=0)
    filters = filters * by_head[:, None, :]
    sizes = {"signal": signal * pitch, "nodes": channels * pitch, "features": features * pitch}
    first = [k for k in range(heads) if orders[k] == "nodes"]
    second = [k for k in range(heads) if orders[k] == "filters"]
    terms: list[Term] = []
    if first:
        mixed = [
            _columns("nodes", adjacency[k], i * channels, 0, channels, pitch) for i, k in enumerate(first)
        ]
        sizes["mixed"] = len(first) * channels * pitch
        operations.append(Affine("mixed", (_joined(mixed),), np.zeros(sizes["mixed"], np.float32)))
        terms.append(
            _joined(
                [
                    _term("mixed", filters[k].T, k * width * concatenated, i * channels, joints, pitch)
                    for i, k in enumerate(first)
                ]
            )
        )
    if second:
        filtered = [_term("nodes", filters[k].T, i * width, 0, joints, pitch) for i, k in enumerate(second)]
        sizes["filtered"] = len(second) * width * pitch
        operations.append(Affine("filtered", (_joined(filtered),), np.zeros(sizes["filtered"], np.float32)))
        terms.append(
            _joined(
                [
                    _columns("filtered", adjacency[k], k * width * concatenated, i * width, width, pitch)
                    for i, k in enumerate(second)
                ]
            )
        )
    paths = [
        _paths(adjacency[k], filters[k], k * width * concatenated, pitch)
        for k in range(heads)
        if orders[k] == "paths"
    ]
    terms += [_merged(_joined(paths))] if paths else []
    bias = np.zeros((features, pitch), np.float32)
    bias[:, :joints] = offset[:, None]
    operations.append(Affine("features", tuple(terms), bias.ravel(), "relu"))

    # The classifier reads joint-major features (v, f); ours lie channel-major (f, v).
    flat = (np.arange(features)[None, :] * pitch + np.arange(joints)[:, None]).ravel()
    source = "features"
    if net.dense is not None and net.dense_norm is not None:
        factor, offset = norm_affine(net.dense_norm, "dense_norm")
        weight = array(net.dense.weight) * factor[:, None]
        operations.append(Affine("dense", (_dense(source, weight, flat),), offset, "relu"))
        sizes["dense"], source, flat = len(weight), "dense", np.arange(len(weight))
    classifier = array(net.classifier.weight)
    operations.append(Affine("scores", (_dense(source, classifier, flat),), array(net.classifier.bias)))
    sizes["scores"] = len(classifier)
    index = (np.arange(signal)[None, :] * pitch + np.arange(joints)[:, None]).ravel()
    notes: dict[str, object] = {"joints": joints, "pitch": pitch, "signal": signal, "orders": list(orders)}
    return Program(tuple(operations), sizes, index, len(classifier), notes=notes)


def _rows(dst: str, src: str, matrix: Floats, offset: Floats, joints: int, pitch: int) -> Affine:
    bias = np.zeros((len(matrix), pitch), np.float32)
    bias[:, :joints] = offset[:, None]
    return Affine(dst, (_term(src, matrix, 0, 0, joints, pitch),), bias.ravel(), "relu")


def _term(src: str, matrix: Floats, first_row: int, first_column: int, joints: int, pitch: int) -> Term:
    """Channels mixed, the same for every joint."""
    rows, columns = np.nonzero(matrix)
    return Term(
        src, (rows + first_row) * pitch, (columns + first_column) * pitch, matrix[rows, columns], joints
    )


def _columns(src: str, matrix: Floats, first_row: int, first_column: int, channels: int, pitch: int) -> Term:
    """Joints mixed, the same for every channel."""
    rows, columns = np.nonzero(matrix)
    place = (rows + first_row * pitch, columns + first_column * pitch)
    return Term(src, *place, matrix[rows, columns], channels, pitch, pitch)


def _paths(adjacency: Floats, filters: Floats, first_row: int, pitch: int) -> Term:
    """Every product of a link and a filter tap as one connection."""
    to, source = np.nonzero(adjacency)
    channel, kind = np.nonzero(filters)
    rows = (first_row + kind)[None, :] * pitch + to[:, None]
    columns = channel[None, :] * pitch + source[:, None]
    weights = adjacency[to, source][:, None] * filters[channel, kind][None, :]
    return Term("nodes", rows.ravel(), columns.ravel(), weights.ravel())


def _dense(src: str, matrix: Floats, place: NDArray[np.int64]) -> Term:
    rows, columns = np.nonzero(matrix)
    return Term(src, rows, place[columns], matrix[rows, columns])


def _joined(terms: list[Term]) -> Term:
    one = terms[0]
    rows = np.concatenate([t.rows for t in terms])
    columns = np.concatenate([t.columns for t in terms])
    weights = np.concatenate([t.weights for t in terms])
    return Term(one.src, rows, columns, weights, one.width, one.dst_step, one.src_step)


def _merged(term: Term) -> Term:
    """Connections between the same two values added up."""
    pairs, place = np.unique(np.stack([term.rows, term.columns]), axis=1, return_inverse=True)
    weights = np.zeros(pairs.shape[1])
    np.add.at(weights, place.ravel(), term.weights)
    return Term(term.src, pairs[0], pairs[1], weights.astype(np.float32))
