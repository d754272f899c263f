"""The paper's multi-head graph convolution on skeletons, ``f(Σ_k A_k Uᵀ W_k)``, as a plain module."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bandstop.nets.config import Adjacency, Combine
from bandstop.nets.dropout import ByteDropout

__all__ = ["GCN", "Adjacency", "ChannelNorm", "Combine", "GraphConv", "skeleton_heads"]


def skeleton_heads(edges: Tensor, joints: int, heads: int) -> Tensor:
    """Handcrafted adjacencies: head h links the joints that are h hops apart, each row summing to one.

    Heads beyond the skeleton's diameter start over from hop 0; joints with nothing at that distance keep
    themselves.

    >>> skeleton_heads(torch.tensor([[0, 1], [1, 2]]), joints=3, heads=3)[1]
    tensor([[0.0000, 1.0000, 0.0000],
            [0.5000, 0.0000, 0.5000],
            [0.0000, 1.0000, 0.0000]])
    """
    linked = torch.eye(joints, dtype=torch.bool)
    edges = torch.as_tensor(edges, dtype=torch.long).reshape(-1, 2)
    linked[edges[:, 0], edges[:, 1]] = True
    linked[edges[:, 1], edges[:, 0]] = True
    reached, rings = torch.eye(joints, dtype=torch.bool), [torch.eye(joints, dtype=torch.bool)]
    while True:
        further = (reached.float() @ linked.float()) > 0
        ring = further & ~reached
        if not ring.any():
            break
        rings.append(ring)
        reached = further
    chosen = torch.stack([rings[h % len(rings)] for h in range(heads)]).float()
    alone = chosen.sum(-1, keepdim=True) == 0
    chosen = torch.where(alone, torch.eye(joints), chosen)
    return chosen / chosen.sum(-1, keepdim=True)


class GraphConv(nn.Module):
    """``Y = Σ_k A_k X W_k`` (heads summed) or ``Y = [A_1 X W_1, …, A_K X W_K]`` (heads concatenated).

    Shapes: X ``[B, V, C]``, A ``[K, V, V]``, W ``[K, C, F]``, Y ``[B, V, F]`` or ``[B, V, K·F]``.

    >>> GraphConv(3, channels=2, filters=4, heads=5, combine="concat")(torch.ones(1, 3, 2)).shape
    torch.Size([1, 3, 20])
    """

    def __init__(
        self,
        joints: int,
        *,
        channels: int,
        filters: int,
        heads: int,
        combine: Combine = "sum",
        adjacency: Adjacency = "free",
        edges: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.combine = combine
        start = torch.randn(heads, joints, joints) / joints**0.5
        if adjacency != "free":
            hops = skeleton_heads(torch.zeros(0, 2) if edges is None else edges, joints, heads)
            start = hops if adjacency == "fixed" else hops + 0.1 * start
        if adjacency == "fixed":
            self.register_buffer("adjacency", start)
        else:
            self.adjacency = nn.Parameter(start)
        fan_in = channels * (heads if combine == "sum" else 1)
        self.filters = nn.Parameter(torch.randn(heads, channels, filters) * (2 / fan_in) ** 0.5)

    def forward(self, signal: Tensor) -> Tensor:
        adjacency, weights = self.adjacency, self.filters  # once: reading a parametrised weight computes it
        heads, joints, _ = adjacency.shape
        _, channels, filters = weights.shape
        # Joints first: each product is then one large matrix product instead of one small one per sequence.
        by_joint = signal.permute(1, 0, 2).reshape(joints, -1)
        mixed = torch.matmul(adjacency.reshape(heads * joints, joints), by_joint)
        mixed = mixed.reshape(heads, -1, channels)
        if self.combine == "sum":
            stacked = mixed.permute(1, 0, 2).reshape(-1, heads * channels)
            filtered = torch.matmul(stacked, weights.reshape(heads * channels, filters))
            return filtered.reshape(joints, -1, filters).permute(1, 0, 2)
        filtered = torch.bmm(mixed, weights).reshape(heads, joints, -1, filters)
        return filtered.permute(2, 1, 0, 3).reshape(-1, joints, heads * filters)

    def extra_repr(self) -> str:
        heads, channels, filters = self.filters.shape
        return (
            f"joints={self.adjacency.shape[1]}, {channels=}, {filters=}, {heads=}, combine={self.combine!r}"
        )


class ChannelNorm(nn.BatchNorm1d):
    """Batch normalisation over the last dimension of ``[B, V, C]`` or ``[B, C]``.

    An affine map once trained, so it folds.
    """

    def forward(self, signal: Tensor) -> Tensor:
        return super().forward(signal.reshape(-1, signal.shape[-1])).reshape(signal.shape)


class GCN(nn.Module):
    """Encoder (a linear map shared by the joints) → graph convolution → optional dense layer → classifier.

    Input ``[B, V, S]``: each joint's chunked trajectory; output: class scores ``[B, classes]``. On FPHA
    (V = 21, S = 96, 45 classes) the defaults have the paper's 39 k weights with heads summed and 251 k with
    heads concatenated:

    >>> sum(p.numel() for n, p in GCN(21, 96, 45).named_parameters() if p.ndim > 1)
    39400
    >>> sum(p.numel() for n, p in GCN(21, 96, 45, combine="concat").named_parameters() if p.ndim > 1)
    251080
    """

    def __init__(
        self,
        joints: int,
        signal: int,
        classes: int,
        *,
        channels: int = 16,
        heads: int = 8,
        filters: int = 32,
        combine: Combine = "sum",
        dense: int = 0,
        adjacency: Adjacency = "skeleton",
        edges: Tensor | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.encoder = nn.Linear(signal, channels, bias=False)
        self.encoder_norm = ChannelNorm(channels)
        self.graph = GraphConv(
            joints,
            channels=channels,
            filters=filters,
            heads=heads,
            combine=combine,
            adjacency=adjacency,
            edges=edges,
        )
        features = filters * (heads if combine == "concat" else 1)
        self.graph_norm = ChannelNorm(features)
        self.dropout = ByteDropout(dropout)
        self.dense = nn.Linear(joints * features, dense, bias=False) if dense else None
        self.dense_norm = ChannelNorm(dense) if dense else None
        self.classifier = nn.Linear(dense or joints * features, classes)

    def forward(self, signal: Tensor) -> Tensor:
        hidden = torch.relu(self.encoder_norm(self.encoder(signal)))
        hidden = torch.relu(self.graph_norm(self.graph(hidden)))
        hidden = self.dropout(hidden.flatten(1))
        if self.dense is not None and self.dense_norm is not None:
            hidden = self.dropout(torch.relu(self.dense_norm(self.dense(hidden))))
        scores: Tensor = self.classifier(hidden)
        return scores
