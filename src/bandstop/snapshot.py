"""What a pruner can say about a moment of training: the latent histogram beside its prior, thresholds and gains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from bandstop.distributed.shards import Shards, local
from bandstop.histogram import soft_histogram

if TYPE_CHECKING:
    from bandstop.pruner import Pruner

__all__ = ["take_snapshot"]


def take_snapshot(pruner: Pruner, cuts: Mapping[str, float]) -> dict[str, Any]:
    """Plain numbers for a log; ``cuts`` are the thresholds at which masks were fixed."""
    layers = {}
    for layer in pruner.layers:
        assert layer.band is not None
        threshold = cuts.get(layer.name, float(layer.band.threshold))
        layers[layer.name] = {"threshold": threshold, "gain": float(layer.band.gain)}
    if pruner.frozen:
        return {"layers": layers}
    shards, values = (
        Shards.of({layer.name: layer.latent.detach() for layer in pruner.layers}),
        [local(layer.latent) for layer in pruner.layers],
    )
    observed = soft_histogram(values, pruner.bins).double()
    observed = observed if shards is None else shards.sum(observed)
    histogram = {
        "centres": _rounded(pruner.bins.centres()),
        "observed": _rounded(observed / observed.sum()),
        "prior": _rounded(pruner.recipe.prior.bin_probabilities(pruner.bins.edges())),
        "threshold": sum(row["threshold"] for row in layers.values()) / len(layers),
        "range": pruner.bins.limit,
    }
    temperature = pruner.recipe.temperature(pruner.progress)
    return {"temperature": temperature, "histogram": histogram, "layers": layers}


def _rounded(values: Tensor) -> list[float]:
    return [float(f"{v:.5g}") for v in values.tolist()]
