"""Recognisers: plain modules that know nothing of pruning."""

from bandstop.nets.build import NetConfig, build_net
from bandstop.nets.gcn import GCN, GraphConv, skeleton_heads
from bandstop.nets.lstm import LSTMRecogniser

__all__ = ["GCN", "GraphConv", "LSTMRecogniser", "NetConfig", "build_net", "skeleton_heads"]
