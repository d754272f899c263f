"""A copy of a network whose normalisation does nothing but add its offset: what files need to hold."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from bandstop.deploy.lower.folding import norm_affine
from bandstop.nets.gcn import GCN, ChannelNorm

__all__ = ["folded_net", "stored_tensors"]


def folded_net(net: nn.Module) -> nn.Module:
    """The same function, with each normalisation's factor moved into the weights before it.

    >>> net = GCN(3, 6, 2).eval()
    >>> x = torch.randn(4, 3, 6)
    >>> bool(torch.allclose(net(x), folded_net(net)(x), atol=1e-6))
    True
    """
    copied = copy.deepcopy(net)
    if not isinstance(copied, GCN):
        return copied
    with torch.no_grad():
        copied.encoder.weight.mul_(_settle(copied.encoder_norm, "encoder_norm")[:, None])
        factor, graph = _settle(copied.graph_norm, "graph_norm"), copied.graph
        heads = graph.filters.shape[0]
        by_head = factor.reshape(heads, 1, -1) if graph.combine == "concat" else factor
        graph.filters.mul_(by_head)
        if copied.dense is not None and copied.dense_norm is not None:
            copied.dense.weight.mul_(_settle(copied.dense_norm, "dense_norm")[:, None])
    return copied


def _settle(norm: ChannelNorm, name: str) -> Tensor:
    """Make ``norm`` add its offset only; the factor it had."""
    factor, offset = norm_affine(norm, name)
    if norm.running_mean is None or norm.running_var is None:  # norm_affine has refused these already
        raise AssertionError(name)
    norm.running_mean.zero_()
    norm.running_var.fill_(1 - norm.eps)
    norm.weight.fill_(1)
    norm.bias.copy_(torch.from_numpy(offset))
    return torch.from_numpy(factor)


def stored_tensors(net: nn.Module) -> list[tuple[str, Tensor]]:
    """Weights, biases and offsets of a folded network, in a fixed order; fixed adjacencies too."""
    found: list[tuple[str, Tensor]] = []
    for name, tensor in net.state_dict(keep_vars=True).items():
        settled = name.endswith(("_norm.weight", "running_mean", "running_var", "num_batches_tracked"))
        if not settled:
            found.append((name, tensor))
    return found
