"""Taking parametrisations off a model that ``fully_shard`` knows with them.

FSDP remembers for each weight the module and attribute into which it puts the gathered weight before a forward pass: while a
pruner is attached, the parametrisation's ``original``. Once that is gone it must be told the layer's own attribute, so that
the plain model still computes. torch has no public call for this; what is touched here is checked for and tested.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from bandstop.engine.shards.tensor import reshard
from bandstop.errors import ModelError

__all__ = ["plain_class", "rehomed"]


@contextmanager
def rehomed(model: nn.Module, owners: Iterable[tuple[nn.Module, str]]) -> Iterator[None]:
    """Inside, take the parametrisations off ``owners`` (module, attribute); afterwards FSDP finds the plain weights."""
    groups = list(_groups(model))
    if not groups:
        yield
        return
    lists: list[tuple[Any, nn.Module, str]] = [
        (module.parametrizations[attribute], module, attribute)  # type: ignore[index]
        for module, attribute in owners
    ]
    homes = {id(parametrisations): (module, attribute) for parametrisations, module, attribute in lists}
    gone = {id(part) for parametrisations, _, _ in lists for part in parametrisations.children()}
    reshard(model)
    yield
    for group in groups:
        for weight in group.fsdp_params:
            info = weight._module_info
            info.module, info.param_name = homes.get(id(info.module), (info.module, info.param_name))
            pairs = zip(info.shared_modules, info.shared_param_names, strict=True)
            shared = [homes.get(id(module), (module, name)) for module, name in pairs]
            info.shared_modules[:] = [module for module, _ in shared]
            info.shared_param_names[:] = [name for _, name in shared]
        # The layers' gains are in the weights now.
        group.fsdp_params[:] = [p for p in group.fsdp_params if id(p._module_info.module) not in gone]
        for handles in (
            group._module_to_pre_save_state_dict_hook_handle,
            group._module_to_pre_load_state_dict_hook_handle,
        ):
            for handle in handles.values():
                handle.remove()
            handles.clear()
        group._register_state_dict_hooks()


@contextmanager
def plain_class(module: nn.Module) -> Iterator[None]:
    """Inside, ``module`` is of the class that it had before ``fully_shard`` was called on itself."""
    wrapped, kind = type(module), _fsdp_module()
    if kind is None or not issubclass(wrapped, kind):
        yield
        return
    module.__class__ = wrapped.__bases__[1]
    try:
        yield
    finally:
        inner = type(module)
        own = {"__deepcopy__": wrapped.__dict__["__deepcopy__"]} if "__deepcopy__" in wrapped.__dict__ else {}
        module.__class__ = type(f"FSDP{inner.__name__}", (kind, inner), own)


def _groups(model: nn.Module) -> Iterator[Any]:
    kind = _fsdp_module()
    for part in model.modules() if kind is not None else ():
        if isinstance(part, kind):  # type: ignore[arg-type]
            state = part._get_fsdp_state()  # type: ignore[operator]
            groups = getattr(state, "_fsdp_param_groups", None)
            if groups is None:  # torch before 2.12
                groups = [g for g in (getattr(state, "_fsdp_param_group", None),) if g is not None]
            for group in groups:
                if not hasattr(group, "_register_state_dict_hooks") or not hasattr(group, "fsdp_params"):
                    raise ModelError(
                        "this version of torch keeps sharded weights in a way that is not known here, so the pruner cannot be "
                        "taken off: save the state with bandstop.distributed.save_plain and load it into a plain model"
                    )
                yield group


def _fsdp_module() -> type[nn.Module] | None:
    found: type[nn.Module] | None = getattr(sys.modules.get("torch.distributed.fsdp"), "FSDPModule", None)
    return found
