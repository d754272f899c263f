"""All pruned layers of a network together: their latents, thresholds and sizes by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from torch import Tensor, nn
from torch.nn.utils import parametrize

from bandstop.engine.attach.parametrisation import BandStop, PrunedLayer
from bandstop.engine.attach.plain import take_off
from bandstop.engine.shards.tensor import is_sharded, reshard
from bandstop.engine.trace import count_kept
from bandstop.errors import ConfigError, ModelError

__all__ = ["PrunedLayers"]


class PrunedLayers(list[PrunedLayer]):
    """The pruned layers of ``model``, in its order; with ``whole`` they must not be sharded.

    >>> from bandstop.engine.attach.parametrisation import prunable_layers
    >>> net = nn.Sequential(nn.Embedding(5, 2, padding_idx=0), nn.Linear(2, 3))
    >>> PrunedLayers(net, prunable_layers(net)).sizes()
    {'0.weight': 8, '1.weight': 6}
    """

    def __init__(self, model: nn.Module, layers: Iterable[PrunedLayer], *, whole: bool = False) -> None:
        super().__init__(layers)
        self.model, self.whole = model, whole
        self._modules = self._present()

    def latents(self) -> dict[str, Tensor]:
        """Latents (weights, before the pruner is attached) without gradient."""
        if self[0].shard is None:
            reshard(self.model)
        latents = {layer.name: layer.latent.detach() for layer in self}
        if self.whole and any(map(is_sharded, latents.values())):
            raise ConfigError(
                "live connections cannot be traced where weights are sharded: build the pruner with "
                "Recipe(live=False), or train with DistributedDataParallel"
            )
        return latents

    def free_latents(self) -> dict[str, Tensor]:
        """Latents without rows that stay zero."""
        latents = self.latents()
        return {layer.name: layer.free(latents[layer.name]) for layer in self}

    def sizes(self) -> dict[str, int]:
        """Entries of each layer that may be kept."""
        return {layer.name: layer.free(layer.latent).numel() for layer in self}

    def counts(self) -> dict[str, int]:
        """Weights of each layer that are not zero, as the network uses them."""
        return {layer.name: count_kept(getattr(*layer.owners[0]).detach()) for layer in self}

    def padding(self) -> dict[str, int]:
        """The row that stays zero, of the layers that have one."""
        return {layer.name: row for layer in self if (row := layer.padding) is not None}

    def thresholds(self) -> dict[str, Tensor]:
        """The gates' thresholds at present."""
        return {layer.name: layer.band.threshold for layer in self if layer.band is not None}

    def latent_thresholds(self) -> dict[str, float]:
        """The same in the units of the latents, as numbers."""
        bands = {layer.name: layer.band for layer in self if layer.band is not None}
        return {name: float(band.latent_threshold()) for name, band in bands.items()}

    def attach(self, bands: Sequence[tuple[BandStop, Tensor]], then: Callable[[], None]) -> None:
        """Put a band and a latent on every layer and do ``then``; if anything fails, all is as it was."""
        before: list[Tensor] = []
        try:
            for layer, (band, latent) in zip(self, bands, strict=True):
                before.append(layer.latent.detach().clone())
                layer.attach(band, latent)
            then()
        except BaseException:
            for layer, weight in zip(self, before, strict=False):
                if layer.band is not None:
                    take_off(layer, weight)
            raise

    def require_attached(self) -> None:
        """Refuse to go on after the model was made plain."""
        for layer in self:
            if layer.band is None:
                raise ConfigError(
                    "the pruner is finalized already: its model is plain, attach a new pruner to go on"
                )

    def require_unchanged(self) -> None:
        """Refuse a model that lost, gained or replaced modules with weights while the pruner was attached."""
        now, before = self._present(), self._modules
        changes = {
            "removed": [name for name in before if name not in now],
            "added": [name for name in now if name not in before],
            "replaced": [name for name in before if name in now and now[name] is not before[name]],
        }
        found = [
            f"{name or 'the model itself'} was {what}" for what, names in changes.items() for name in names
        ]
        if found:
            raise ModelError(
                f"the model must keep its layers while a pruner is attached, but {', '.join(found)}: "
                "change the model before the pruner is attached, or after finalize"
            )

    def _present(self) -> dict[str, nn.Module]:
        """The modules with weights of two or more dimensions, gated or not."""
        return {
            name: module
            for name, module in self.model.named_modules()
            if "parametrizations" not in name.split(".") and any(p.ndim > 1 for p in _own_parameters(module))
        }


def _own_parameters(module: nn.Module) -> Iterator[Tensor]:
    yield from (parameter for parameter in module._parameters.values() if parameter is not None)
    if parametrize.is_parametrized(module):
        for made in module.parametrizations.values():  # type: ignore[operator]
            yield from (parameter for parameter in made._parameters.values() if parameter is not None)
