"""The generated class of a parametrised module, made fit for copying, pickling and recurrent layers.

``torch.nn.utils.parametrize`` gives each parametrised module a class of its own. Copies made by torch share
that class, so that taking the parametrisation off one of them breaks the others, and pickling is refused.
Here every copy gets a class of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn
from torch.nn.utils import parametrize

from bandstop.engine.attach.parameter_order import listed_first, plain_table, take_turns
from bandstop.engine.attach.weight_access import shorten_access
from bandstop.errors import ModelError

__all__ = ["adapt_class", "flat_weights"]


def adapt_class(module: nn.Module) -> None:
    """Let a parametrised ``module`` be deep-copied and pickled; a recurrent one sees its weights as they are.

    Its state holds latents only, and a state of plain weights is refused with a sentence.
    """
    kind: Any = type(module)
    base: Any = kind.__bases__[0]

    def save(self: nn.Module, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        base._save_to_state_dict(self, destination, prefix, keep_vars)
        for name in _names(self):  # some layers save their weight by name, though it is made from a latent
            destination.pop(prefix + name, None)

    def load(self: nn.Module, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        _refuse_plain_weights(self, state, prefix)
        with plain_table(self):
            base._load_from_state_dict(self, state, prefix, *rest)

    def apply(self: nn.Module, change: Any, recurse: bool = True) -> nn.Module:
        with plain_table(self):
            moved: nn.Module = base._apply(self, change, recurse)
        return moved

    kind._apply = apply
    kind._save_to_state_dict, kind._load_from_state_dict = save, load
    kind.named_modules = _latents_in_place
    kind.__deepcopy__, kind.__reduce_ex__ = _deepcopy, _reduce
    if isinstance(module, nn.RNNBase):
        vars(module).pop("_flat_weights", None)
        kind._flat_weights = property(flat_weights, _ignore)
    if parametrize.is_parametrized(module):
        take_turns(module, _names(module))


def _latents_in_place(
    self: nn.Module, memo: set[nn.Module] | None = None, prefix: str = "", remove_duplicate: bool = True
) -> Iterator[tuple[str, nn.Module]]:
    """``named_modules`` with the latents where the weights were: just before the other parameters, or after.

    Parameters are listed module by module, so that by itself a latent would move behind the bias.
    """
    memo = set() if memo is None else memo
    if self in memo:
        return
    if remove_duplicate:
        memo.add(self)
    inner = list(_named_children(self, memo, prefix, remove_duplicate))
    latents = [found for found in inner if found[0].startswith(_join(prefix, "parametrizations"))]
    own = [(prefix, self)]
    yield from latents + own if listed_first(self, _names(self)) else own + latents
    yield from (found for found in inner if found not in latents)


def _named_children(
    module: nn.Module, memo: set[nn.Module], prefix: str, remove_duplicate: bool
) -> Iterator[tuple[str, nn.Module]]:
    for name, child in module._modules.items():
        if child is not None:
            yield from child.named_modules(memo, _join(prefix, name), remove_duplicate)


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _names(module: nn.Module) -> tuple[str, ...]:
    return tuple(module.parametrizations)  # type: ignore[arg-type]


def _refuse_plain_weights(module: nn.Module, state: dict[str, Any], prefix: str) -> None:
    """A plain network's weights say nothing about latents: they are what a pruner starts from."""
    for name in _names(module):
        if prefix + name in state and f"{prefix}parametrizations.{name}.original" not in state:
            raise ModelError(
                f"the state holds the plain weight {prefix + name!r}, but the model has a pruner on it: load "
                "plain weights before the pruner is attached, or after `finalize`"
            )


def flat_weights(module: nn.Module) -> list[Tensor | None]:
    """The list of weights that a recurrent module computes with, made anew from the present ones."""
    return [getattr(module, name, None) for name in module._flat_weights_names]  # type: ignore[union-attr]


def _ignore(module: nn.Module, _: object) -> None:
    """Recurrent layers cache their weights when they are moved; gated ones are made anew at each use."""


def _rebuilt(kind: type[nn.Module], names: tuple[str, ...]) -> nn.Module:
    """An empty module of class ``kind`` with a generated class of its own."""
    module = kind.__new__(kind)
    parametrize._inject_new_class(module)
    for name in names:
        parametrize._inject_property(module, name)
        shorten_access(module, name)
    adapt_class(module)
    return module


def _recipe(module: nn.Module) -> tuple[type[nn.Module], tuple[str, ...]]:
    return parametrize.type_before_parametrizations(module), _names(module)


def _deepcopy(self: nn.Module, memo: dict[int, Any]) -> nn.Module:
    replica = memo[id(self)] = _rebuilt(*_recipe(self))
    vars(replica).update(copy.deepcopy(vars(self), memo))
    return replica


def _fill(module: nn.Module, state: dict[str, Any]) -> None:
    vars(module).update(state)
    if isinstance(module, nn.RNNBase):  # remembers its weights weakly, which cannot be pickled
        module._flat_weight_refs = [None] * len(module._flat_weights_names)


def _reduce(self: nn.Module, protocol: int) -> tuple[Any, ...]:
    state = {name: value for name, value in vars(self).items() if name != "_flat_weight_refs"}
    return _rebuilt, _recipe(self), state, None, None, _fill
