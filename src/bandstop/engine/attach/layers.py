"""All pruned layers of a network together: their latents, thresholds and sizes by name."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.engine.shards.tensor import is_sharded, reshard
from bandstop.errors import ConfigError

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

    def padding(self) -> dict[str, int]:
        """The row that stays zero, of the layers that have one."""
        return {layer.name: row for layer in self if (row := layer.padding) is not None}

    def thresholds(self) -> dict[str, Tensor]:
        """The gates' thresholds at present."""
        return {layer.name: layer.band.threshold for layer in self if layer.band is not None}
