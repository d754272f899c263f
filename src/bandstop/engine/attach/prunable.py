"""Which parameters of a network are pruned, and why a parameter that was asked for cannot be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatch

import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.prune import BasePruningMethod
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from bandstop.engine.attach.checks import require_own_memory, require_plain_values
from bandstop.errors import ModelError

__all__ = ["Found", "Layers", "choose_weights", "prunable_by_default"]

Layers = str | type[nn.Module] | Iterable[str | type[nn.Module]] | Callable[[str, nn.Parameter], bool] | None
"""Name patterns (``fnmatch``; ``!`` leaves out), layer types, a predicate on name and parameter, or the
default."""

Found = tuple[str, nn.Module, str]
"""Full name, owner, attribute."""


def prunable_by_default(module: nn.Module, attribute: str, parameter: nn.Parameter) -> bool:
    """Whether a parameter is a trained weight of two or more dimensions, no bias, not part of a norm.

    >>> norm = nn.LayerNorm([4, 4])
    >>> prunable_by_default(norm, "weight", norm.weight)
    False
    """
    number = parameter.is_floating_point() or parameter.is_complex()
    if not (parameter.requires_grad and number):
        return False
    if isinstance(parameter, nn.parameter.UninitializedParameter):
        return not attribute.startswith("bias")
    part_of_norm = "Norm" in parametrize.type_before_parametrizations(module).__name__
    wanted = parameter.ndim >= 2 and parameter.numel() > 0
    return wanted and not attribute.startswith("bias") and not part_of_norm


def choose_weights(model: nn.Module, layers: Layers = None) -> list[list[Found]]:
    """The tensors to prune, each with all its owners (several if tied); refuses what cannot be pruned.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3), nn.Conv1d(3, 1, 1))
    >>> [owners[0][0] for owners in choose_weights(net)]
    ['0.weight', '2.weight']
    >>> [owners[0][0] for owners in choose_weights(net, nn.Conv1d)]
    ['2.weight']
    """
    wish = _Wish(layers)
    owners: dict[int, list[Found]] = {}
    wanted: dict[int, Found] = {}
    for prefix, module in model.named_modules():
        if "parametrizations" in prefix.split("."):
            continue
        start = f"{prefix}." if prefix else ""
        if parametrize.is_parametrized(module):
            _refuse_parametrised(module, start, wish)
        for attribute, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
            found = (start + attribute, module, attribute)
            owners.setdefault(id(parameter), []).append(found)
            if wish(*found, parameter):
                _require_prunable(*found, parameter)
                wanted.setdefault(id(parameter), found)
    wish.require_matches(model)
    if not wanted:
        frozen = (
            " that is trained (some are frozen)"
            if any(not p.requires_grad for p in model.parameters())
            else ""
        )
        raise ModelError(
            f"the model has no weight of two or more dimensions to prune{frozen}; name the parameters with "
            "layers=[…]"
        )
    chosen = [[first, *(o for o in owners[key] if o != first)] for key, first in wanted.items()]
    for name, module, _ in (owner for group in chosen for owner in group):
        _require_plain_table(name, module)
    require_own_memory(model, {key: first[0] for key, first in wanted.items()})
    return chosen


class _Wish:
    """What the user asked for, and which parts of it met a parameter."""

    def __init__(self, layers: Layers) -> None:
        self.predicate = layers if callable(layers) and not isinstance(layers, type) else None
        single = isinstance(layers, (str, type))
        plain = layers is None or self.predicate or single or isinstance(layers, Iterable)
        if not plain or (isinstance(layers, torch.Tensor) and not layers.ndim):
            raise ModelError(f"layers are name patterns, layer types or a predicate; found {layers!r}")
        given = [] if layers is None or self.predicate else [layers] if single else list(layers)  # type: ignore[arg-type]
        self.types = tuple(part for part in given if isinstance(part, type))
        names = [part for part in given if isinstance(part, str)]
        if strange := [part for part in given if not isinstance(part, (str, type))]:
            raise ModelError(f"layers are name patterns, layer types or a predicate; found {strange[0]!r}")
        self.patterns = [name for name in names if not name.startswith("!")]
        self.left_out = [name.removeprefix("!") for name in names if name.startswith("!")]
        self.default = not (self.predicate or self.types or self.patterns)
        self.met: set[object] = set()

    def __call__(self, name: str, module: nn.Module, attribute: str, parameter: nn.Parameter) -> bool:
        if without := [p for p in self.left_out if fnmatch(name, p)]:
            self.met.update(without)
            return False
        usual = prunable_by_default(module, attribute, parameter)
        if self.default:
            return usual
        if self.predicate:
            return bool(self.predicate(name, parameter))
        matched = {p for p in self.patterns if fnmatch(name, p)}
        matched_types = {kind for kind in self.types if usual and isinstance(module, kind)}
        self.met |= matched | matched_types
        return bool(matched or matched_types)

    def require_matches(self, model: nn.Module) -> None:
        """Every pattern and type must have met something: a misspelt one would silently change the budget."""
        names = ", ".join(name for name, _ in model.named_parameters())
        if unknown := [p for p in [*self.patterns, *self.left_out] if p not in self.met]:
            raise ModelError(
                f"no parameter is called {', '.join(map(repr, unknown))}; the model has: {names}"
            )
        if absent := [kind.__name__ for kind in self.types if kind not in self.met]:
            raise ModelError(
                "the model has no trained weight of two or more dimensions in a layer of type "
                f"{', '.join(absent)}; it has: {names}"
            )


def _require_prunable(name: str, module: nn.Module, attribute: str, parameter: nn.Parameter) -> None:
    if isinstance(parameter, nn.parameter.UninitializedParameter):
        raise ModelError(
            f"parameter {name} of a {type(module).__name__} has no shape yet: run the model once on an "
            "input before pruning it"
        )
    if parameter.device.type == "meta":
        raise ModelError(
            f"parameter {name} is on the meta device and has no values to start from: give the model its "
            "weights first (model.to_empty(device=…) and initialise, or load_state_dict(…, assign=True))"
        )
    require_plain_values(name, parameter)
    if not parameter.requires_grad:
        raise ModelError(
            f"parameter {name} is frozen (requires_grad=False), so it could not learn to do with less: "
            "unfreeze it or leave it out"
        )
    for hook in module._forward_pre_hooks.values():
        tensor = getattr(hook, "name", getattr(hook, "_tensor_name", None))
        if isinstance(hook, (WeightNorm, SpectralNorm, BasePruningMethod)) and attribute.startswith(
            f"{tensor}_"
        ):
            remedy = "prune.remove" if isinstance(hook, BasePruningMethod) else "remove_weight_norm"
            remedy = "remove_spectral_norm" if isinstance(hook, SpectralNorm) else remedy
            raise ModelError(
                f"parameter {name} is made into the weight of its layer by {type(hook).__name__}, which a "
                f"pruner cannot share: call torch.nn.utils.{remedy} on the layer first, or leave it out with "
                f"layers=['!{name.removesuffix(attribute)}{tensor}*']"
            )


def _require_plain_table(name: str, module: nn.Module) -> None:
    """Tables whose lookups write or send gradients in ways that a computed weight does not allow."""
    if not isinstance(module, (nn.Embedding, nn.EmbeddingBag)):
        return
    if module.sparse:
        raise ModelError(
            f"parameter {name} belongs to an {type(module).__name__} with sparse=True, whose sparse "
            f"gradients cannot pass a gate: set sparse=False, or leave it out with layers=['!{name}']"
        )
    if module.max_norm is not None:
        raise ModelError(
            f"parameter {name} belongs to an {type(module).__name__} with max_norm, which rewrites its rows "
            f"at each lookup: set max_norm=None, or leave it out with layers=['!{name}']"
        )


def _refuse_parametrised(module: nn.Module, start: str, wish: _Wish) -> None:
    """Tensors that a parametrisation makes may stay as they are, but cannot be pruned."""
    for attribute, made in module.parametrizations.items():  # type: ignore[operator,union-attr]
        with torch.no_grad():
            stand_in = nn.Parameter(getattr(module, attribute).detach())
        if not wish(start + attribute, module, attribute, stand_in):
            continue
        kinds = ", ".join(type(part).__name__ for part in made)
        raise ModelError(
            f"layer {start.rstrip('.') or 'model'} is parametrised already: its {attribute} is made by "
            f"{kinds}; finalize the pruner on it (or remove_parametrizations), or leave it out with "
            f"layers=['!{start}{attribute}']"
        )
