"""The order of ``named_parameters()``, which stays as it was while latents stand in for weights.

torch lists parameters module by module, and latents live in modules of their own, below the one whose weights
they replace. Where a module's pruned weights come first or last of its parameters, its latents are listed
just before or just after the others. Where they come by turns, as weights and biases do in a recurrent layer
of several levels, the module's own table lists the latents between its parameters, under the latents' names.
"""

from __future__ import annotations

import warnings
from collections.abc import ItemsView, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from torch import distributed, nn
from torch.nn.utils import parametrize

from bandstop.errors import BandstopWarning

__all__ = ["ByTurns", "listed_first", "note_order", "plain_table", "restore_order", "take_turns"]

_ORDER = "_parameter_order"


def note_order(module: nn.Module) -> None:
    """Remember the order of the parameters of a ``module`` that is about to lose some to parametrisations."""
    vars(module).setdefault(_ORDER, tuple(module._parameters))


def restore_order(module: nn.Module) -> None:
    """Give the parameters of a module that is plain again the order that they had.

    >>> module = nn.Linear(1, 1)
    >>> note_order(module)
    >>> module.weight = module._parameters.pop("weight")
    >>> restore_order(module)
    >>> [name for name, _ in module.named_parameters()]
    ['weight', 'bias']
    """
    if isinstance(module._parameters, ByTurns):
        module._parameters = dict(module._parameters)
    for name in vars(module).pop(_ORDER, ()):
        if name in module._parameters:
            module._parameters[name] = module._parameters.pop(name)


def listed_first(module: nn.Module, pruned: tuple[str, ...]) -> bool:
    """Whether the latents of ``module`` are listed before its other parameters."""
    order: tuple[str, ...] = vars(module).get(_ORDER, ())
    return bool(order) and order[0] in pruned and not isinstance(module._parameters, ByTurns)


class ByTurns(dict[str, Any]):
    """The table of a module's own parameters; ``items`` lists its latents among them, in the first order.

    >>> from bandstop import Pruner
    >>> module = nn.LSTM(2, 3, num_layers=2)
    >>> before = [id(parameter) for parameter in module.parameters()]
    >>> pruner = Pruner(module, 0.5, steps=4)
    >>> [id(parameter) for parameter in module.parameters()] == before
    True
    >>> [name for name, _ in module.named_parameters()][1:3]
    ['parametrizations.weight_hh_l0.original', 'bias_ih_l0']
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__(module._parameters)
        self.module = module

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """Names and parameters; latents have the names under which their own modules know them."""
        latents: Any = self.module._modules.get("parametrizations") or {}
        found: dict[str, Any] = {}
        for name in vars(self.module).get(_ORDER, ()):
            if name in latents:
                found[f"parametrizations.{name}.original"] = latents[name].original
            elif name in self:
                found[name] = self[name]
        return (found | {name: self[name] for name in self if name not in found}).items()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _unfilled, (), {"module": self.module}, None, iter(dict.items(self))


def _unfilled() -> ByTurns:
    return ByTurns.__new__(ByTurns)


def take_turns(module: nn.Module, pruned: tuple[str, ...]) -> None:
    """Let ``module`` list its ``pruned`` weights' latents by turns with its other parameters, where needed.

    FSDP takes each parameter from the table in which it finds it first, and could not gather a latent that is
    in two of them: among ranks the table stays plain, and a warning says so.
    """
    if isinstance(module._parameters, ByTurns):
        return
    own = module._parameters
    turns = [name in pruned for name in vars(module)[_ORDER] if name in pruned or own.get(name) is not None]
    if sum(one != other for one, other in pairwise(turns)) < 2:
        return
    if distributed.is_available() and distributed.is_initialized():
        kind = parametrize.type_before_parametrizations(module)
        warnings.warn(
            f"among ranks the parameters of {kind.__name__} are listed in another order until "
            "finalize, pruned weights together, because FSDP cannot gather them otherwise: match parameters "
            "by name, not by place",
            BandstopWarning,
            stacklevel=2,
        )
        return
    module._parameters = ByTurns(module)


@contextmanager
def plain_table(module: nn.Module) -> Iterator[None]:
    """Inside, the table of ``module`` has its own parameters only, for what writes into it by name."""
    table = module._parameters
    if not isinstance(table, ByTurns):
        yield
        return
    plain = module._parameters = dict(table)
    try:
        yield
    finally:
        dict.clear(table)
        dict.update(table, plain)
        module._parameters = table
