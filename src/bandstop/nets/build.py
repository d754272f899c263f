"""From a network's description to the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from bandstop.errors import ConfigError
from bandstop.nets.gcn import GCN, Adjacency, Combine
from bandstop.nets.lstm import LSTMRecogniser

__all__ = ["NetConfig", "build_net"]


@dataclass(frozen=True)
class NetConfig:
    """Which recogniser, and its sizes."""

    kind: Literal["gcn", "lstm"] = "gcn"
    """Graph convolution (the paper's) or an LSTM over poses."""
    channels: int = 16
    """GCN: channels of the node encoder."""
    heads: int = 8
    """GCN: adjacency ("attention") heads."""
    filters: int = 32
    """GCN: filters of each head."""
    combine: Combine = "concat"
    """GCN: heads concatenated (251 k weights on FPHA) or summed (39 k)."""
    dense: int = 0
    """GCN: width of a dense layer before the classifier; 0 for none."""
    adjacency: Adjacency = "skeleton"
    """GCN: learned from the skeleton, learned from noise (free), or fixed handcrafted."""
    hidden: int = 100
    """LSTM: hidden units."""
    layers: int = 1
    """LSTM: stacked layers."""
    dropout: float | None = None
    """Dropout before each dense layer; unless given, 0.3 in a dense training, 0.2 in a pruned one up to 98 %,
    none beyond or with a rival.
    """

    def __post_init__(self) -> None:
        for name in ("channels", "heads", "filters", "hidden", "layers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"net.{name} must be at least 1, found {getattr(self, name)}")
        if self.dense < 0:
            raise ConfigError(f"net.dense must be 0 (no dense layer) or a width, found {self.dense}")
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise ConfigError(f"net.dropout must be in [0, 1), found {self.dropout}")


def build_net(config: NetConfig, *, joints: int, signal: int, classes: int, edges: object = ()) -> nn.Module:
    """Build the described network for ``joints`` nodes of ``signal`` values and ``classes`` classes.

    >>> type(build_net(NetConfig(kind="lstm"), joints=21, signal=96, classes=5)).__name__
    'LSTMRecogniser'
    """
    if config.kind == "lstm":
        return LSTMRecogniser(
            joints, signal, classes, hidden=config.hidden, layers=config.layers, dropout=config.dropout or 0.0
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
