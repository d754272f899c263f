"""A moment of training in plain numbers: the latent histogram beside its prior, thresholds and gains."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from bandstop.engine.prior_fit import fit_of_layers, quantiles_beside_prior
from bandstop.engine.shards.tensor import Shards, local
from bandstop.method.histogram.kl import soft_histogram

if TYPE_CHECKING:
    from bandstop.engine.pruner import Pruner

__all__ = ["take_snapshot"]

Total = Callable[[Tensor], Tensor]
"""Adds up numbers over all ranks."""


def take_snapshot(pruner: Pruner) -> dict[str, Any]:
    """Plain numbers for a log; thresholds of a fixed mask are those at which it was fixed."""
    layers = {}
    for layer in pruner.layers:
        assert layer.band is not None
        threshold = pruner.fixed_thresholds.get(layer.name, float(layer.band.latent_threshold()))
        layers[layer.name] = {"threshold": threshold, "gain": float(layer.band.gain)}
    if pruner.settled:
        return {"layers": layers}
    shards, values = (
        Shards.of({layer.name: layer.latent.detach() for layer in pruner.layers}),
        [layer.band.latent_of(local(layer.latent)) for layer in pruner.layers if layer.band is not None],
    )
    total: Total = (lambda numbers: numbers) if shards is None else shards.sum
    thresholds = [row["threshold"] for row in layers.values()]
    fit = fit_of_layers(pruner)
    scales = [row.scale for row in fit.values()]  # in the prior's units, where its scale follows the layer
    values = [value / scale for value, scale in zip(values, scales, strict=True)]
    thresholds = [value / scale for value, scale in zip(thresholds, scales, strict=True)]
    bins = replace(pruner.bins, limit=_reach(pruner, values, total, thresholds))
    observed = total(soft_histogram(values, bins).double())
    histogram = {
        "centres": _rounded(bins.centres()),
        "observed": _rounded(observed / observed.sum()),
        "prior": _rounded(pruner.recipe.prior.bin_probabilities(bins.edges())),
        "threshold": sum(thresholds) / len(thresholds),
        "range": bins.limit,
    }
    temperature = pruner.recipe.temperature(pruner.progress)
    rows = {name: asdict(row) for name, row in fit.items()}
    seen = {"temperature": temperature, "histogram": histogram, "layers": layers, "fit": rows}
    if shards is not None:  # quantiles of all latents would need them in order, on one rank
        return seen
    return {**seen, "quantiles": quantiles_beside_prior(values, pruner.recipe.prior)}


def _reach(pruner: Pruner, values: Sequence[Tensor], total: Total, thresholds: Iterable[float]) -> float:
    """Where the histogram ends: without the KL, latents leave the prior's support."""
    norms = torch.stack([torch.linalg.vector_norm(v, dtype=torch.float64) for v in values])
    count = norms.new_tensor(float(sum(v.numel() for v in values)))
    squares, entries = total(torch.stack([norms.square().sum(), count])).tolist()
    wanted = [4 * math.sqrt(squares / entries), *(1.3 * threshold for threshold in thresholds)]
    return max([pruner.bins.limit, *(w for w in wanted if math.isfinite(w))])


def _rounded(values: Tensor) -> list[float]:
    return [float(f"{v:.5g}") for v in values.tolist()]
