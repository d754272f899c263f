"""From a finished PyTorch module to a sparse program; anything that has no exact translation is refused by its layer's name."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from bandstop.deploy.ir.program import Program
from bandstop.deploy.ir.simplify import simplify
from bandstop.deploy.lower.gcn import Order, lower_gcn
from bandstop.deploy.lower.lstm import lower_lstm
from bandstop.deploy.lower.sequential import lower_sequential
from bandstop.errors import ExportError
from bandstop.nets.gcn import GCN
from bandstop.nets.lstm import LSTMRecogniser

__all__ = ["lower"]


def lower(
    net: nn.Module,
    example: Tensor,
    *,
    pitch: int | None = None,
    orders: tuple[Order, ...] | None = None,
    compact: bool = False,
) -> Program:
    """The sparse program of ``net`` for inputs shaped like ``example`` (with its batch dimension), simplified.

    ``pitch``: how far apart the rows of a node signal lie (joints padded for vector units); ``orders``: for each head of
    a graph convolution, which product comes first; ``compact``: keep the tables small rather than fold every constant.

    >>> net = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 2)).eval()
    >>> _ = torch.nn.init.zeros_(net[2].weight)
    >>> print(lower(net, torch.zeros(1, 3)))
    signal[3]
    scores[2] = none(bias + 0)
    """
    if net.training:
        raise ExportError(
            "a network is exported in evaluation mode, found training mode; call net.eval() first"
        )
    _refuse_nonfinite(net)
    if isinstance(net, GCN):
        program = lower_gcn(net, pitch=pitch, orders=orders)
    elif isinstance(net, LSTMRecogniser):
        program = lower_lstm(net, example, pitch=pitch)
    elif isinstance(net, nn.Sequential):
        program = lower_sequential(net, tuple(example.shape[1:]))
    else:
        raise ExportError(
            f"only GCN, LSTMRecogniser and nn.Sequential networks can be exported, found {type(net).__name__}"
        )
    return simplify(program, compact=compact)


def _refuse_nonfinite(net: nn.Module) -> None:
    for name, value in net.state_dict().items():
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            count = int(np.count_nonzero(~np.isfinite(value.numpy())))
            raise ExportError(f"weights must be finite, found {count} that are not in {name}; train again")
