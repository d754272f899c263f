"""From a finished PyTorch module to a sparse program.

What has no exact translation is refused by its layer's name.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bandstop.deploy.ir.check import check
from bandstop.deploy.ir.program import Program
from bandstop.deploy.ir.simplify import simplify
from bandstop.deploy.lower.kind import Kind, Order, Variant
from bandstop.deploy.lower.registry import KINDS, folded, kind_of
from bandstop.errors import ExportError

__all__ = ["KINDS", "Kind", "Order", "Variant", "folded", "kind_of", "lower", "lower_variants"]


def lower(
    net: nn.Module, example: Tensor, *, variant: Variant | None = None, compact: bool = False
) -> Program:
    """The simplified sparse program of ``net`` for inputs shaped like ``example`` (with its batch dimension).

    ``compact`` keeps the tables small rather than fold every constant.

    >>> net = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 2)).eval()
    >>> _ = torch.nn.init.zeros_(net[2].weight)
    >>> print(lower(net, torch.zeros(1, 3)))
    signal[3]
    scores[2] = none(bias + 0)
    """
    return _lowered(_ready(net), example, variant or Variant(), compact=compact)


def lower_variants(net: nn.Module, example: Tensor, *, lanes: int) -> list[Program]:
    """Every program of ``net`` that is worth a plan on a machine whose vectors have ``lanes`` lanes."""
    ready = _ready(net)
    variants = kind_of(ready).variants(ready, lanes)
    return [_lowered(ready, example, variant, compact=False) for variant in variants]


def _ready(net: nn.Module) -> nn.Module:
    """The network, checked and without batch normalisation."""
    kind = kind_of(net)
    if net.training:
        raise ExportError(
            "a network is exported in evaluation mode, found training mode; call net.eval() first"
        )
    for name, value in net.state_dict().items():
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            count = int((~torch.isfinite(value)).sum())
            raise ExportError(f"weights must be finite, found {count} that are not in {name}; train again")
    return kind.fold(net)


def _lowered(net: nn.Module, example: Tensor, variant: Variant, *, compact: bool) -> Program:
    program = check(kind_of(net).lower(net, example, variant), after="lowering")
    return check(simplify(program, compact=compact), after="simplifying")
