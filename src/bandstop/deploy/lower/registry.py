"""The one list of networks that can be exported."""

from __future__ import annotations

from torch import nn

from bandstop.deploy.lower.gcn import GCN_KIND
from bandstop.deploy.lower.kind import Kind
from bandstop.deploy.lower.lstm import LSTM_KIND
from bandstop.deploy.lower.sequential import SEQUENTIAL_KIND
from bandstop.deploy.lower.tcn import TCN_KIND
from bandstop.errors import ExportError

__all__ = ["KINDS", "folded", "kind_of"]

KINDS: tuple[Kind, ...] = (GCN_KIND, LSTM_KIND, TCN_KIND, SEQUENTIAL_KIND)


def kind_of(net: nn.Module) -> Kind:
    """What is known of a network's kind; any other network is refused.

    >>> kind_of(nn.Sequential(nn.Linear(2, 2))).name
    'sequential'
    """
    for kind in KINDS:
        if isinstance(net, kind.module):
            return kind
    names = [kind.module.__name__ for kind in KINDS]
    raise ExportError(
        f"only {', '.join(names[:-1])} and {names[-1]} networks can be exported, found {type(net).__name__}"
    )


def folded(net: nn.Module) -> nn.Module:
    """A copy of ``net`` whose batch normalisation is folded, where its kind has any."""
    return kind_of(net).fold(net)
