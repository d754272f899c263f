"""Recognisers: plain modules that know nothing of pruning. Torch is loaded when one is used."""

from importlib import import_module
from typing import TYPE_CHECKING

from bandstop.nets.config import NetConfig

if TYPE_CHECKING:
    from bandstop.nets.build import build_net
    from bandstop.nets.gcn import GCN, GraphConv, skeleton_heads
    from bandstop.nets.lstm import LSTMRecogniser
    from bandstop.nets.tcn import TCN

__all__ = ["GCN", "TCN", "GraphConv", "LSTMRecogniser", "NetConfig", "build_net", "skeleton_heads"]

_HOMES = {
    "GCN": "gcn",
    "GraphConv": "gcn",
    "skeleton_heads": "gcn",
    "LSTMRecogniser": "lstm",
    "TCN": "tcn",
    "build_net": "build",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'bandstop.nets' has no attribute {name!r}")
    return getattr(import_module(f"bandstop.nets.{_HOMES[name]}"), name)
