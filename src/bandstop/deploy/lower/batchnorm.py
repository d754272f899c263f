"""Batch normalisation is folded first: its factors go into the weights before it, an offset is left."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from bandstop.deploy.ir.program import Floats
from bandstop.errors import ExportError
from bandstop.nets.affine import affine, folded_weights
from bandstop.nets.gcn import GCN

__all__ = ["array", "fold_gcn", "neutral", "norm_affine", "stored_tensors"]


def array(values: Tensor) -> Floats:
    """A detached float32 array."""
    found: Floats = values.detach().to(torch.float32).cpu().numpy()
    return found


def norm_affine(norm: nn.Module, name: str) -> tuple[Floats, Floats]:
    """``(factor, offset)`` with ``norm(x) = factor · x + offset`` in evaluation mode.

    >>> factor, offset = norm_affine(nn.BatchNorm1d(1, eps=0.0).eval(), "norm")
    >>> factor.tolist(), offset.tolist()
    ([1.0], [0.0])
    """
    if not isinstance(norm, nn.BatchNorm1d):
        raise ExportError(f"layer {name}: {type(norm).__name__} cannot be folded; only BatchNorm1d can")
    if norm.running_mean is None or norm.running_var is None:
        raise ExportError(f"layer {name}: normalisation without running statistics cannot be folded")
    factor, offset = affine(norm, torch.float64)
    return array(factor), array(offset)


def fold_gcn(net: GCN) -> GCN:
    """A copy with the same scores whose normalisations do nothing but add their ``bias``.

    >>> net = GCN(3, 6, 2).eval()
    >>> x = torch.randn(4, 3, 6)
    >>> bool(torch.allclose(net(x), fold_gcn(net)(x), atol=1e-6))
    True
    """
    folded = copy.deepcopy(net)
    with torch.no_grad():
        for name, norm in folded.named_children():
            if isinstance(norm, nn.BatchNorm1d):
                neutral(norm, name)
        for name, value in folded_weights(net, torch.float64).items():
            folded.get_parameter(name).copy_(value)
    return folded


def neutral(norm: nn.BatchNorm1d, name: str) -> None:
    """Make ``norm`` add its bias and do nothing else."""
    if norm.running_mean is None or norm.running_var is None:
        raise ExportError(f"layer {name}: normalisation without running statistics cannot be folded")
    norm.running_mean.zero_()
    norm.running_var.fill_(1 - norm.eps)
    norm.weight.fill_(1)


def stored_tensors(net: nn.Module) -> list[tuple[str, Tensor]]:
    """Weights, biases and offsets of a folded network, in a fixed order; fixed adjacencies too."""
    neutral = ("_norm.weight", "running_mean", "running_var", "num_batches_tracked")
    return [(name, t) for name, t in net.state_dict(keep_vars=True).items() if not name.endswith(neutral)]
