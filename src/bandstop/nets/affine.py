"""Batch normalisation of a trained network is an affine map, so it folds into the weights before it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bandstop.nets.gcn import GCN

__all__ = ["affine", "folded_weights"]


def affine(norm: nn.BatchNorm1d, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """``(factor, offset)`` with ``norm(x) = factor · x + offset`` in evaluation mode, computed in ``dtype``.

    >>> norm = nn.BatchNorm1d(1, eps=0.0)
    >>> norm.running_mean, norm.running_var = torch.tensor([3.0]), torch.tensor([4.0])
    >>> [float(part.detach()) for part in affine(norm, torch.float32)]
    [0.5, -1.5]
    """
    if norm.running_mean is None or norm.running_var is None:
        raise ValueError("a normalisation without running statistics is no affine map")
    factor = torch.rsqrt(norm.running_var.to(dtype) + norm.eps)
    if norm.weight is not None:
        factor = factor * norm.weight.to(dtype)
    offset = -norm.running_mean.to(dtype) * factor
    if norm.bias is not None:
        offset = offset + norm.bias.to(dtype)
    return factor, offset


@torch.no_grad()
def folded_weights(net: GCN, dtype: torch.dtype) -> dict[str, Tensor]:
    """Weights of a GCN with each normalisation's factor moved into the weights before it.

    The names are those of the state dict. What is left of a normalisation, its offset, is its ``bias``.
    Factors and offsets are computed in ``dtype``.

    >>> net = GCN(3, 6, 2)
    >>> sorted(folded_weights(net, torch.float64))
    ['encoder.weight', 'encoder_norm.bias', 'graph.filters', 'graph_norm.bias']
    """
    filters = net.graph.filters
    factor, encoder_offset = affine(net.encoder_norm, dtype)
    encoder = net.encoder.weight * factor.to(net.encoder.weight.dtype)[:, None]
    factor, graph_offset = affine(net.graph_norm, dtype)
    factor = factor.to(filters.dtype)
    by_head = factor.reshape(len(filters), 1, -1) if net.graph.combine == "concat" else factor
    found = {
        "encoder.weight": encoder,
        "encoder_norm.bias": encoder_offset.to(encoder.dtype),
        "graph.filters": filters * by_head,
        "graph_norm.bias": graph_offset.to(filters.dtype),
    }
    if net.dense is not None and net.dense_norm is not None:
        factor, offset = affine(net.dense_norm, dtype)
        found["dense.weight"] = net.dense.weight * factor.to(net.dense.weight.dtype)[:, None]
        found["dense_norm.bias"] = offset.to(net.dense.weight.dtype)
    return found
