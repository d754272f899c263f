"""The gated weight of a module, found without the detours of ``torch.nn.utils.parametrize``.

Its property asks a dictionary of modules, calls a list of parametrisations and from there the only one that
it holds: after a training step, with all of that out of the processor's cache, this takes longer than the
gate of a small layer.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as hooks_of_all
from torch.nn.utils import parametrize

__all__ = ["OneBand", "shorten_access"]


class OneBand(parametrize.ParametrizationList):
    """A list that mostly holds one band: torch's own asks for a second one in a way that takes as long as a
    small layer's gate.
    """

    def forward(self) -> Tensor:
        if len(self._modules) > 1:
            return super().forward()
        weight: Tensor = self._modules["0"](self._parameters["original"])
        return weight


def shorten_access(module: nn.Module, name: str) -> None:
    """Let ``module.name`` go straight to its band where nobody listens, and torch's way otherwise.

    >>> from bandstop import Pruner
    >>> net = nn.Linear(2, 2)
    >>> pruner = Pruner(net, 0.5, steps=9)
    >>> handle = net.parametrizations.weight.register_forward_hook(lambda *_: print("seen"))
    >>> int(net.weight.count_nonzero())
    seen
    4
    """
    kind: Any = type(module)
    by_torch: Any = vars(kind)[name].fget

    def weight(self: Any) -> Tensor:
        if parametrize._cache_enabled or torch.compiler.is_compiling():
            return by_torch(self)  # type: ignore[no-any-return]
        made = self._modules["parametrizations"]._modules[name]
        bands = made._modules
        if len(bands) > 1 or _watched(made) or _watched(bands["0"]):
            return by_torch(self)  # type: ignore[no-any-return]
        return bands["0"].forward(made._parameters["original"])  # type: ignore[no-any-return]

    setattr(kind, name, property(weight, vars(kind)[name].fset))


def _watched(called: nn.Module) -> bool:
    """Whether more happens in a call of this module than its ``forward``."""
    return bool(
        called._forward_hooks
        or called._forward_pre_hooks
        or called._backward_hooks
        or called._backward_pre_hooks
        or called._compiled_call_impl is not None
        or hooks_of_all._global_forward_hooks
        or hooks_of_all._global_forward_pre_hooks
        or hooks_of_all._global_backward_hooks
        or hooks_of_all._global_backward_pre_hooks
        or torch._C._get_tracing_state()
    )
