"""An inference copy of a trained network: the same scores without gradients, in less time."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bandstop.nets.affine import folded_weights
from bandstop.nets.gcn import GCN

__all__ = ["for_inference"]

LANES = 16
"""Matrix products whose width is no multiple of this take up to half as long again."""


def for_inference(net: nn.Module) -> Callable[[Tensor], Tensor]:
    """``net`` in evaluation mode as a function of its input, for as long as its weights stay as they are.

    In a GCN with concatenated heads normalisations become part of the maps before them, and the classifier
    takes each head's features where they are, so that no large tensor is copied.

    >>> net = GCN(3, 6, 2, combine="concat").eval()
    >>> signals = torch.randn(4, 3, 6)
    >>> bool(torch.allclose(net(signals), for_inference(net)(signals), atol=1e-5))
    True
    """
    net.eval()
    if isinstance(net, GCN) and net.graph.combine == "concat" and net.dense is None:
        return _ConcatGCN(net)

    @torch.no_grad()
    def scores(signals: Tensor) -> Tensor:
        found: Tensor = net(signals)
        return found

    return scores


class _ConcatGCN:
    """``Σ_k relu(A_k relu(X E + e) W_k + w_k) C_k + c``, with the normalisations in E, e, W and w."""

    @torch.no_grad()
    def __init__(self, net: GCN) -> None:
        adjacency, filters = net.graph.adjacency, net.graph.filters
        heads, joints, _ = adjacency.shape
        folded = folded_weights(net, filters.dtype)
        self.encoder_offset = folded["encoder_norm.bias"]
        self.encoder = folded["encoder.weight"].t().contiguous()
        self.filters = folded["graph.filters"]
        self.filter_offset = folded["graph_norm.bias"].reshape(heads, 1, -1)
        self.adjacency = adjacency.reshape(heads * joints, joints).clone()
        self.classes = net.classifier.out_features
        by_head = net.classifier.weight.reshape(self.classes, joints, heads, -1).permute(2, 1, 3, 0)
        by_head = by_head.reshape(heads, -1, self.classes)
        self.classifier = F.pad(by_head, (0, -self.classes % LANES)).contiguous()
        self.bias = net.classifier.bias.clone()

    @torch.no_grad()
    def __call__(self, signals: Tensor) -> Tensor:
        batch, joints, size = signals.shape
        heads, channels, _ = self.filters.shape
        encoded = torch.addmm(self.encoder_offset, signals.reshape(-1, size), self.encoder).relu_()
        by_joint = encoded.reshape(batch, joints, channels).transpose(0, 1).reshape(joints, -1)
        mixed = torch.mm(self.adjacency, by_joint).reshape(heads, joints, batch, channels).transpose(1, 2)
        features = torch.baddbmm(self.filter_offset, mixed.reshape(heads, -1, channels), self.filters).relu_()
        scores = torch.bmm(features.reshape(heads, batch, -1), self.classifier).sum(0)
        return scores[:, : self.classes] + self.bias
