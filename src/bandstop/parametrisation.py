"""The band-stop parametrisation of one weight tensor, and how it is put on a module and taken off again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn.utils import parametrize

from bandstop.distributed.frozen import hold_zeros, mask_gradients
from bandstop.distributed.shards import is_sharded, largest, local, require_plain, whole
from bandstop.distributed.unwrap import plain_class
from bandstop.errors import ModelError
from bandstop.gate import Gate

__all__ = ["BandStop", "PrunedLayer", "prunable_layers"]


class BandStop(nn.Module):
    """``W = g · Ŵ ⊙ ψ(Ŵ)``; once frozen, ``W = g · M ⊙ Ŵ`` with a fixed mask M."""

    threshold: Tensor
    temperature: Tensor
    keep: Tensor | None

    def __init__(self, gate: Gate, gain: Tensor, *, learn_gain: bool = True) -> None:
        super().__init__()
        self.gate = gate
        # Learned as a logarithm: a gain that crossed zero would turn its whole layer's sign around in one step.
        # A vector of one entry among ranks: fully_shard takes no scalars.
        start = gain.log().reshape(
            (1,) if distributed.is_available() and distributed.is_initialized() else ()
        )
        if learn_gain:
            self.log_gain = nn.Parameter(start)
        else:
            self.register_buffer("log_gain", start)
        self.register_buffer("threshold", torch.zeros_like(gain))
        self.register_buffer("temperature", torch.ones_like(gain))
        self.register_buffer("keep", None)

    @property
    def gain(self) -> Tensor:
        """The layer's scale, always positive."""
        return whole(self.log_gain).exp().reshape(())

    def forward(self, latent: Tensor) -> Tensor:
        if self.keep is not None:
            # A sharded mask cannot meet the gathered latent, which holds the zeros itself (`bandstop.distributed.frozen`).
            return latent * (self.gain if is_sharded(self.keep) else self.keep * self.gain)
        return self.gate.scaled(latent, self.gain, self.threshold, self.temperature)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        gain = state_dict.get(f"{prefix}log_gain")
        if (
            gain is not None and not is_sharded(gain) and gain.numel() == 1
        ):  # saved by one process, loaded among ranks, or the reverse
            state_dict[f"{prefix}log_gain"] = gain.reshape(self.log_gain.shape)
        keep = state_dict.get(f"{prefix}keep")
        if keep is not None and self.keep is None and not is_sharded(keep):
            # Trainers load the model before the pruner: the mask of a frozen one finds its place either way.
            self.keep = torch.ones_like(keep, device=self.threshold.device)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        return f"{self.gate}, frozen={self.keep is not None}"


@dataclass
class PrunedLayer:
    """One prunable tensor: its name, every module that owns it (tied weights have several) and its parametrisation."""

    name: str
    owners: tuple[tuple[nn.Module, str], ...]
    band: BandStop | None = None
    shard: nn.Parameter | None = field(default=None, repr=False)
    hook: Any = field(default=None, repr=False)

    @property
    def latent(self) -> nn.Parameter:
        """Ŵ while attached, the plain weight otherwise."""
        module, attribute = self.owners[0]
        if self.band is None:
            found = getattr(module, attribute)
        else:
            found = module.parametrizations[attribute].original  # type: ignore[index,union-attr]
        assert isinstance(found, nn.Parameter)
        if is_sharded(found):  # from forward to backward FSDP puts the gathered weight in its place
            self.shard = found
        return found if self.shard is None else self.shard

    def attach(self, band: BandStop, latent: Tensor) -> None:
        """Replace the weight by ``band(latent)`` on every owner; the parameter object stays, so optimisers keep working."""
        parameter = self.latent
        for module, attribute in self.owners:
            setattr(module, attribute, parameter)
            parametrize.register_parametrization(module, attribute, band, unsafe=True)
            module.parametrizations[attribute].original = parameter  # type: ignore[index,union-attr]
            if isinstance(module, nn.RNNBase) and not hasattr(module, "_bandstop_refresh"):
                module._bandstop_refresh = module.register_forward_pre_hook(_refresh_flat_weights)
        with torch.no_grad():
            parameter.copy_(latent)
        self.band = band

    def detach(self, weight: Tensor) -> None:
        """Take the parametrisation off and leave the plain ``weight`` in the same parameter object."""
        parameter = self.latent
        self.fix(None)
        for module, attribute in self.owners:
            with plain_class(module):
                parametrize.remove_parametrizations(module, attribute, leave_parametrized=False)
            setattr(module, attribute, parameter)
        with torch.no_grad():
            local(parameter).copy_(weight)
        self.band = self.shard = None
        for module, _ in self.owners:
            if isinstance(module, nn.RNNBase) and hasattr(module, "_bandstop_refresh"):
                if not parametrize.is_parametrized(module):
                    module._bandstop_refresh.remove()  # type: ignore[union-attr,operator]
                    del module._bandstop_refresh
                _refresh_flat_weights(module, None)

    @torch.no_grad()
    def effective(self) -> Tensor:
        """The weight as the network uses it (this rank's part), without gain: ``Ŵ ⊙ ψ(Ŵ)``."""
        assert self.band is not None
        weight: Tensor = self.band(local(self.latent)) / self.band.gain
        return weight

    @torch.no_grad()
    def freeze(self, keep: Tensor) -> None:
        """Fix the mask; the kept latents take their effective values, so the network's function does not jump."""
        assert self.band is not None
        local(self.latent).copy_(nonzero(self.effective(), keep))
        self.fix(keep)

    def fix(self, keep: Tensor | None) -> None:
        """Set the mask (none: back to the gate)."""
        assert self.band is not None
        self.band.keep = keep
        if self.hook is not None:
            self.hook.remove()
        self.hook = mask_gradients(self.latent, self.band) if keep is not None and is_sharded(keep) else None

    def hold(self) -> None:
        """Call after each optimiser step once the mask is fixed."""
        assert self.band is not None
        hold_zeros(self.latent, self.band.keep)


def nonzero(weight: Tensor, keep: Tensor) -> Tensor:
    """``weight`` with exact zeros where not kept and none where kept: a kept weight of 0 becomes a negligible number."""
    tiny = largest(weight, like=keep).clamp(min=1e-20) * 1e-6
    return torch.where(local(keep), torch.where(weight == 0, tiny, weight), 0)


def _refresh_flat_weights(module: nn.Module, _: object) -> None:
    """Recurrent layers cache their weights in a list; make the list see the gated ones."""
    if isinstance(module, nn.RNNBase):
        module._flat_weights = [getattr(module, name) for name in module._flat_weights_names]


def prunable_layers(
    model: nn.Module, choose: Iterable[str] | Callable[[str, nn.Parameter], bool] | None = None
) -> list[PrunedLayer]:
    """The tensors to prune: parameters of two or more dimensions, or those chosen by name (``fnmatch``) or predicate.

    >>> [layer.name for layer in prunable_layers(nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3), nn.Linear(3, 1)))]
    ['0.weight', '2.weight']
    """
    from fnmatch import fnmatch

    patterns = None if choose is None or callable(choose) else list(choose)
    used: set[str] = set()
    owners: dict[int, list[tuple[str, nn.Module, str]]] = {}
    require_plain(model)
    for prefix, module in model.named_modules():
        if parametrize.is_parametrized(module):
            raise ModelError(
                f"layer {prefix or 'model'} is parametrised already: finalize the pruner on it (or remove its "
                "parametrisations) before attaching another"
            )
        for attribute, parameter in module.named_parameters(recurse=False):
            name = f"{prefix}.{attribute}" if prefix else attribute
            if patterns is not None:
                matched = {p for p in patterns if fnmatch(name, p)}
                used |= matched
                wanted = bool(matched)
            else:
                wanted = choose(name, parameter) if callable(choose) else parameter.ndim >= 2
            if not wanted and id(parameter) not in owners:
                continue
            if not parameter.is_floating_point():
                raise ModelError(
                    f"parameter {name} has type {parameter.dtype}: only floating-point weights can be pruned"
                )
            owners.setdefault(id(parameter), []).append((name, module, attribute))
    if patterns is not None and (unknown := [p for p in patterns if p not in used]):
        names = ", ".join(n for n, _ in model.named_parameters())
        raise ModelError(f"no parameter is called {', '.join(map(repr, unknown))}; the model has: {names}")
    if not owners:
        raise ModelError(
            "the model has no weight of two or more dimensions to prune; name the parameters with layers=[…]"
        )
    return [PrunedLayer(found[0][0], tuple((m, a) for _, m, a in found)) for found in owners.values()]
