"""The band-stop parametrisation of one weight, and how it is put on a module (``plain`` takes it off)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor, distributed, nn
from torch.nn.utils import parametrize

from bandstop.engine.attach.checks import check_model
from bandstop.engine.attach.hold import hold_zeros, mask_gradients
from bandstop.engine.attach.module_class import adapt_class
from bandstop.engine.attach.optional_chart import OptionalChart
from bandstop.engine.attach.optional_mask import rename_mask
from bandstop.engine.attach.parameter_order import note_order
from bandstop.engine.attach.prunable import Layers, choose_weights
from bandstop.engine.attach.weight_access import OneBand, shorten_access
from bandstop.engine.shards.tensor import is_sharded, largest, local, local_row, require_plain, whole
from bandstop.errors import ModelError
from bandstop.method.gate import Gate
from bandstop.method.gate_autograd import plainly_run

__all__ = ["BandStop", "PrunedLayer", "nonzero", "prunable_layers"]


class _KnownGain(NamedTuple):
    """A gain, and the state of the tensors that it was computed from."""

    value: Tensor
    sources: tuple[Tensor, Tensor]
    versions: tuple[int, int]

    @staticmethod
    def of(value: Tensor, *sources: Tensor) -> _KnownGain:
        return _KnownGain(value, (sources[0], sources[1]), (sources[0]._version, sources[1]._version))

    def follows(self, first: Tensor, second: Tensor) -> bool:
        """Whether the tensors are still the same, unchanged."""
        if first is not self.sources[0] or second is not self.sources[1]:
            return False
        return first._version == self.versions[0] and second._version == self.versions[1]

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy knows nothing: versions of copied tensors are counted anew, and could be these by chance."""
        return type(None), ()


class BandStop(OptionalChart):
    """``W = g · Ŵ ⊙ ψ(Ŵ)``; once frozen, ``W = g · M ⊙ Ŵ`` with a fixed mask M.

    The gain is ``g = stretch · exp(log_gain)``.
    """

    temperature: Tensor
    stretch: Tensor

    def __init__(self, gate: Gate, gain: Tensor, *, learn_gain: bool = True) -> None:
        super().__init__()
        self.gate = gate
        # Learned as a logarithm: a gain that crossed zero would turn its whole layer's sign around in one
        # step. A vector of one entry among ranks: fully_shard takes no scalars.
        start = gain.log().reshape(
            (1,) if distributed.is_available() and distributed.is_initialized() else ()
        )
        if learn_gain:
            self.log_gain = nn.Parameter(start)
        else:
            self.register_buffer("log_gain", start)
        self.register_buffer("threshold", torch.zeros_like(gain))
        self.register_buffer("temperature", torch.ones_like(gain))
        self.register_buffer("stretch", torch.ones_like(gain))
        self._known_gain: _KnownGain | None = None

    @property
    def gain(self) -> Tensor:
        """The layer's scale, always positive."""
        fixed, stretch = self._buffers.get("log_gain"), self._buffers["stretch"]
        assert stretch is not None
        known = self._known_gain
        plain = fixed is not None and known is not None and not torch.compiler.is_compiling()
        if plain and known.follows(fixed, stretch):  # type: ignore[union-attr,arg-type]
            return known.value  # type: ignore[union-attr]  # the very tensors: no transform wrapped them
        if fixed is None or not plainly_run(fixed) or torch.is_inference_mode_enabled():
            return whole(self.log_gain).exp().reshape(()) * stretch
        known = self._known_gain = _KnownGain.of(fixed.exp().reshape(()) * stretch, fixed, stretch)
        return known.value

    def set_levels(self, threshold: Tensor, temperature: float, stretch: float | None) -> None:
        """Renew the gate's threshold and temperature and, unless None, the factor on the gain."""
        self.threshold.copy_(threshold)
        self.set_factors(temperature, stretch)

    def set_factors(self, temperature: float, stretch: float | None) -> None:
        """Renew the gate's temperature and, unless None, the factor on the gain."""
        if not self.gate.exact:  # the others do not read it
            self.temperature.fill_(temperature)
        if stretch is not None:
            self.stretch.fill_(stretch)

    def open(self) -> None:
        """Let everything pass: averaged copies, which have no mask, take this and so the weights over."""
        self.threshold.zero_()
        self.temperature.fill_(torch.finfo(self.temperature.dtype).tiny)
        if self.charted:
            self.open_chart()

    def forward(self, latent: Tensor) -> Tensor:
        if self.mask is not None:
            # A sharded mask cannot meet the gathered latent, which holds the zeros itself (see ``hold``).
            return latent * (self.gain if is_sharded(self.mask) else self.mask * self.gain)
        levels = self._buffers  # as attributes they take torch longer to find than to use
        if "table" in levels:
            return self.through_chart(latent, self.gate, self.gain, levels["temperature"])  # type: ignore[arg-type]
        return self.gate.scaled(latent, self.gain, levels["threshold"], levels["temperature"])  # type: ignore[arg-type]

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        gain = state_dict.get(f"{prefix}log_gain")
        if gain is not None and not is_sharded(gain) and gain.numel() == 1:
            # Saved by one process and loaded among ranks, or the reverse.
            state_dict[f"{prefix}log_gain"] = gain.reshape(self.log_gain.shape)
        rename_mask(state_dict, prefix)
        mask = state_dict.get(f"{prefix}mask")
        if mask is not None and self.mask is None and not is_sharded(mask):
            # Trainers load the model before the pruner: the mask of a frozen one is taken either way.
            self.mask = torch.ones_like(mask, device=self.threshold.device)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        return f"{self.gate}, frozen={self.mask is not None}"


@dataclass
class PrunedLayer:
    """One prunable tensor: its name, the modules that own it (several if tied) and its parametrisation."""

    name: str
    owners: tuple[tuple[nn.Module, str], ...]
    band: BandStop | None = None
    shard: nn.Parameter | None = field(default=None, repr=False)
    hook: Any = field(default=None, repr=False)

    @cached_property
    def padding(self) -> int | None:
        """The row of an embedding that stands for "nothing" and stays zero, unless the table is tied."""
        tables = nn.Embedding | nn.EmbeddingBag
        rows = {module.padding_idx if isinstance(module, tables) else None for module, _ in self.owners}
        return rows.pop() if len(rows) == 1 else None

    @property
    def padding_here(self) -> int | None:
        """Where the padding row lies in the part of the weight that is here, if it does."""
        row = self.padding
        if row is not None and self.shard is not None:
            return local_row(self.shard, row)
        return row

    def free(self, tensor: Tensor) -> Tensor:
        """``tensor``, shaped like the weight, without its padding row (a view if that is first or last)."""
        row = None if is_sharded(tensor) else self.padding_here
        if row is None:
            return tensor
        if row in (0, len(tensor) - 1):
            return tensor[1:] if row == 0 else tensor[:-1]
        return torch.cat((tensor[:row], tensor[row + 1 :]))

    @property
    def latent(self) -> nn.Parameter:
        """Ŵ while attached, the plain weight otherwise."""
        module, attribute = self.owners[0]
        if self.band is None:
            found = getattr(module, attribute)
        else:  # as attributes they would take longer to find
            made: Any = module._modules["parametrizations"]
            found = made._modules[attribute]._parameters["original"]
        assert isinstance(found, nn.Parameter)
        if is_sharded(found):  # from forward to backward FSDP puts the gathered weight in its place
            self.shard = found
        return found if self.shard is None else self.shard

    def attach(self, band: BandStop, latent: Tensor) -> None:
        """Replace the weight by ``band(latent)`` on every owner; the parameter object stays the same."""
        parameter = self.latent
        for module, attribute in self.owners:
            note_order(module)
            setattr(module, attribute, parameter)
            parametrize.register_parametrization(module, attribute, band, unsafe=True)
            made: Any = module.parametrizations[attribute]  # type: ignore[index]
            made.original, made.__class__ = parameter, OneBand
            adapt_class(module)
            shorten_access(module, attribute)
        with torch.no_grad():
            parameter.copy_(latent)
        self.band = band

    @torch.no_grad()
    def effective(self) -> Tensor:
        """The weight as the network uses it (this rank's part), without gain: ``Ŵ ⊙ ψ(Ŵ)``."""
        assert self.band is not None
        weight: Tensor = self.band(local(self.latent)) / self.band.gain
        return weight

    @torch.no_grad()
    def freeze(self, mask: Tensor) -> None:
        """Fix the mask; kept latents take their effective values, so that the function does not jump."""
        assert self.band is not None
        local(self.latent).copy_(nonzero(self.effective(), mask))
        self.band.open()
        self.set_mask(mask)

    def set_mask(self, mask: Tensor | None) -> None:
        """Fix the mask (None: back to the gate)."""
        assert self.band is not None
        self.band.mask = mask
        if self.hook is not None:
            self.hook.remove()
        self.hook = mask_gradients(self.latent, self.band) if mask is not None and is_sharded(mask) else None

    def hold(self) -> None:
        """Call after each optimiser step once the mask is fixed."""
        assert self.band is not None
        # Momentum moves stopped latents on; no weight shows it, but averages of them would.
        hold_zeros(self.latent, self.band.mask)


def nonzero(weight: Tensor, mask: Tensor) -> Tensor:
    """``weight`` with exact zeros outside the mask and none inside: there a 0 becomes a negligible number.

    >>> nonzero(torch.tensor([2.0, 0.0, 3.0]), torch.tensor([True, True, False])).count_nonzero()
    tensor(2)
    """
    tiny = largest(weight, like=mask).clamp(min=1e-20) * 1e-6
    tiny = tiny.clamp(min=torch.finfo(weight.dtype).tiny)  # float16 has nothing as small as that
    return torch.where(local(mask), torch.where(weight == 0, tiny, weight), 0)


def prunable_layers(model: nn.Module, layers: Layers = None) -> list[PrunedLayer]:
    """The tensors to prune, as ``choose_weights`` finds them: by default weights of two or more dimensions.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3), nn.Linear(3, 1))
    >>> [layer.name for layer in prunable_layers(net)]
    ['0.weight', '2.weight']
    """
    check_model(model)
    require_plain(model)
    found = choose_weights(model, layers)
    made = [PrunedLayer(owners[0][0], tuple((m, a) for _, m, a in owners)) for owners in found]
    for layer in made:
        if not layer.free(layer.latent).numel():
            raise ModelError(
                f"parameter {layer.name} has nothing but its padding row, which stays zero: leave it out "
                f"with layers=['!{layer.name}']"
            )
    return made
