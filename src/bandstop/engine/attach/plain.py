"""Plain again: taking parametrisations off a model or off copies of it, sharded or not."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from bandstop.engine.attach.module_class import flat_weights
from bandstop.engine.attach.parameter_order import restore_order
from bandstop.engine.attach.parametrisation import BandStop, PrunedLayer, nonzero
from bandstop.engine.shards.tensor import local, reshard
from bandstop.errors import ModelError

__all__ = ["make_copy_plain", "make_plain", "make_replica_plain", "refresh_recurrent", "take_off"]


@torch.no_grad()
def make_plain(model: nn.Module, layers: Sequence[PrunedLayer]) -> nn.Module:
    """Take the band-stops of frozen ``layers`` off ``model``: exact zeros outside their masks."""
    with _rehomed(model, [owner for layer in layers for owner in layer.owners]):
        for layer in layers:
            assert layer.band is not None and layer.band.mask is not None
            layer.hold()
            take_off(layer, nonzero(layer.band(local(layer.latent)), layer.band.mask))
    return model


def take_off(layer: PrunedLayer, weight: Tensor) -> None:
    """Take the parametrisation off a layer and leave the plain ``weight`` in the same parameter object.

    >>> from bandstop.engine.attach.parametrisation import prunable_layers
    >>> from bandstop.method.gate import Soft
    >>> module = nn.Linear(2, 2)
    >>> (layer,) = prunable_layers(module)
    >>> layer.attach(BandStop(Soft(), torch.tensor(1.0)), torch.ones(2, 2))
    >>> take_off(layer, torch.zeros(2, 2))
    >>> type(module).__name__, list(module.state_dict()), int(module.weight.count_nonzero())
    ('Linear', ['weight', 'bias'], 0)
    """
    parameter = layer.latent
    layer.set_mask(None)
    for module, attribute in layer.owners:
        with _plain_class(module):
            parametrize.remove_parametrizations(module, attribute, leave_parametrized=False)
        plain = not parametrize.is_parametrized(module)
        if plain and isinstance(module, nn.RNNBase):  # its __setattr__ looks into this list
            vars(module)["_flat_weights"] = flat_weights(module)
        setattr(module, attribute, parameter)
        if plain:
            restore_order(module)
    with torch.no_grad():
        local(parameter).copy_(weight)
    layer.band = layer.shard = None


@torch.no_grad()
def make_copy_plain(model: nn.Module, masks: Mapping[str, Tensor | None]) -> nn.Module:
    """Take the band-stops off a copy of a pruned network (or off its ``module``, where it is wrapped).

    ``masks`` go by the names that weights have in the network; a copy may lack them, if it was made before
    they were fixed.
    """
    inner = getattr(model, "module", model)
    found: dict[int, PrunedLayer] = {}
    for prefix, module in inner.named_modules():
        if not parametrize.is_parametrized(module):
            continue
        for attribute, made in module.parametrizations.items():
            if isinstance(made[0], BandStop):
                name = f"{prefix}.{attribute}".lstrip(".")
                layer = found.setdefault(id(made.original), PrunedLayer(name, (), made[0]))
                layer.owners = (*layer.owners, (module, attribute))
    if not found:
        raise ModelError("a copy is made plain only once: this network has no pruner on it")
    paths = {id(module): path for path, module in inner.named_modules()}
    by_name = {name: mask for name, mask in masks.items() if mask is not None}
    for layer in found.values():
        names = [f"{paths[id(module)]}.{attribute}".lstrip(".") for module, attribute in layer.owners]
        known = [name for name in names if name in by_name]
        if not known or layer.band is None:
            raise ModelError(f"layer {layer.name} is not one of the pruner's: {', '.join(by_name)}")
        take_off(layer, nonzero(layer.band(layer.latent), by_name[known[0]].to(layer.latent.device)))
    return inner


@torch.no_grad()
def make_replica_plain(model: nn.Module, weights: Mapping[int, Tensor]) -> None:
    """Take every parametrisation, of whatever kind, off ``model``, a deep copy.

    ``weights`` has the values of gated tensors by the identity of their latent; others keep what they are at
    present. A copy shares the generated classes of foreign parametrisations with the original, so the classes
    are left alone, unlike in ``remove_parametrizations``.
    """
    written: set[int] = set()
    for module in list(model.modules()):
        if not parametrize.is_parametrized(module):
            continue
        latents: dict[str, nn.Parameter] = {}
        for name, made in module.parametrizations.items():  # type: ignore[operator,union-attr]
            latents[name] = latent = made.original
            if id(latent) not in written:  # tied weights have one latent and several owners
                latent.copy_(weights[id(latent)] if id(latent) in weights else getattr(module, name))
                written.add(id(latent))
        plain = parametrize.type_before_parametrizations(module)
        del module.parametrizations
        module.__class__ = plain
        for name, latent in latents.items():
            module.register_parameter(name, latent)
        restore_order(module)
    refresh_recurrent(model)


@torch.no_grad()
def refresh_recurrent(model: nn.Module) -> None:
    """Recurrent layers keep a list of their weights: make it anew from the present ones."""
    for module in model.modules():
        if isinstance(module, nn.RNNBase):
            module._flat_weights = flat_weights(module)


@contextmanager
def _rehomed(model: nn.Module, owners: Iterable[tuple[nn.Module, str]]) -> Iterator[None]:
    """Inside, take the parametrisations off ``owners``; afterwards FSDP finds the plain weights.

    FSDP remembers for each weight the module and attribute into which it puts the gathered weight before a
    forward pass: while a pruner is attached, the parametrisation's ``original``. Once that is gone it must be
    told the layer's own attribute. torch has no public call for this; what is touched here is checked for and
    tested.
    """
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
def _plain_class(module: nn.Module) -> Iterator[None]:
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
                        "this version of torch keeps sharded weights in a way that is not known here, so "
                        "the pruner cannot be taken off: save the state with "
                        "bandstop.distributed.save_plain and load it into a plain model"
                    )
                yield group


def _fsdp_module() -> type[nn.Module] | None:
    found: type[nn.Module] | None = getattr(sys.modules.get("torch.distributed.fsdp"), "FSDPModule", None)
    return found
