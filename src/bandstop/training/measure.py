"""How good a network is and how large."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from bandstop.engine.trace import trace
from bandstop.method.budget import VALUE_BYTES, sparse_bytes
from bandstop.record.metrics import LayerSize, Quality, Size

__all__ = ["accuracy", "confusion", "predict", "quality", "size"]


@torch.no_grad()
def predict(net: nn.Module, signals: Tensor, batch: int = 1024) -> Tensor:
    """Class scores of all signals, in evaluation mode."""
    training = net.training
    net.eval()
    scores = torch.cat([net(part) for part in torch.split(signals, batch)])
    net.train(training)
    return scores


def confusion(labels: Tensor, found: Tensor, classes: int) -> Tensor:
    """Counts ``[true, found]``.

    >>> confusion(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]), 2).tolist()
    [[1, 0], [1, 1]]
    """
    return torch.bincount(labels * classes + found, minlength=classes * classes).reshape(classes, classes)


def accuracy(labels: Tensor, scores: Tensor) -> float:
    """Share of right answers, in per cent.

    >>> accuracy(torch.tensor([0, 1, 1, 1]), torch.eye(2)[[0, 0, 1, 1]])
    75.0
    """
    return round(float((scores.argmax(1) == labels).double().mean()) * 100, 3)


def quality(labels: Tensor, scores: Tensor) -> Quality:
    """Plain accuracy, accuracy averaged over the classes present, and the confusion matrix.

    >>> quality(torch.tensor([0, 1, 1, 1]), torch.eye(2)[[0, 0, 1, 1]]).class_accuracy
    83.333
    """
    table = confusion(labels, scores.argmax(1), scores.shape[1])
    right, members = table.diagonal().double(), table.sum(1).double()
    present = members > 0
    return Quality(
        accuracy=round(float(right.sum() / members.sum()) * 100, 3),
        class_accuracy=round(float((right[present] / members[present]).mean()) * 100, 3),
        confusion=tuple(map(tuple, table.tolist())),
    )


def size(
    net: nn.Module, example: Tensor, layers: Mapping[str, Mapping[str, float | None]] | None = None
) -> Size:
    """Connections kept and live, parameters, multiply-accumulates and bytes, in all and per layer.

    ``layers``: threshold and gain by name, where they are known.
    """
    traced = trace(net, example)
    unpruned = sum(p.numel() for p in net.parameters()) - traced.total
    known = layers or {}
    rows = [
        LayerSize(
            name=name,
            shape=tuple(weight.live.shape),
            total=weight.total,
            kept=weight.kept,
            live=weight.live_count,
            macs_dense=weight.macs_dense,
            macs_nominal=weight.macs_nominal,
            macs_live=weight.macs_live,
            **known.get(name, {}),
        )
        for name, weight in traced.weights.items()
    ]
    return Size(
        weights_total=traced.total,
        weights_kept=traced.kept,
        weights_live=traced.live,
        parameters_total=traced.total + unpruned,
        parameters_kept=traced.kept + unpruned,
        macs_dense=traced.macs_dense,
        macs_nominal=traced.macs,
        macs_live=traced.macs_live,
        bytes_dense=(traced.total + unpruned) * VALUE_BYTES,
        bytes_sparse=sparse_bytes(traced.kept, unpruned),
        layers=tuple(rows),
    )
