"""From a network's description to the network."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from bandstop.nets.config import NetConfig
from bandstop.nets.gcn import GCN
from bandstop.nets.lstm import LSTMRecogniser
from bandstop.nets.tcn import TCN

__all__ = ["build_net"]


def build_net(
    config: NetConfig,
    *,
    joints: int,
    signal: int,
    classes: int,
    chunks: int = 32,
    shared: Sequence[int] = (),
    edges: object = (),
) -> nn.Module:
    """Build the described network for ``joints`` nodes of ``signal`` values and ``classes`` classes.

    ``chunks``: how many a signal is made of, and ``shared``: which values of a chunk are the same for all
    joints; convolutions over time must know both.

    >>> type(build_net(NetConfig(kind="lstm"), joints=21, signal=96, classes=5)).__name__
    'LSTMRecogniser'
    """
    if config.kind == "lstm":
        return LSTMRecogniser(
            joints, signal, classes, hidden=config.hidden, layers=config.layers, dropout=config.dropout or 0.0
        )
    if config.kind == "tcn":
        return TCN(
            joints,
            signal,
            classes,
            chunks=chunks,
            widths=config.widths,
            kernels=config.kernels,
            strides=config.strides,
            shared=shared,
            dropout=config.dropout or 0.0,
        )
    return GCN(
        joints,
        signal,
        classes,
        channels=config.channels,
        heads=config.heads,
        filters=config.filters,
        combine=config.combine,
        dense=config.dense,
        adjacency=config.adjacency,
        edges=torch.as_tensor(edges, dtype=torch.long).reshape(-1, 2),
        dropout=config.dropout or 0.0,
    )
