"""A run folder as the report sees it: settings, metrics, log of the epochs, skeleton and adjacency."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bandstop.errors import BandstopError, ConfigError, DataError
from bandstop.record.folder import CONFIG, LOG, MODEL, read_metrics
from bandstop.record.metrics import Metrics
from bandstop.record.typed_json import build, read_object, read_object_lines
from bandstop.report.weights import Weights, read_weights

__all__ = ["Epoch", "Histogram", "LayerFit", "Quantiles", "Run", "read_run"]


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """The pooled latent weights over bins, beside their prior, both summing to one."""

    centres: tuple[float, ...]
    observed: tuple[float, ...]
    prior: tuple[float, ...]
    threshold: float | None = None
    range: float | None = None
    layer_thresholds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 2 <= len(self.centres) == len(self.observed) == len(self.prior):
            found = f"{len(self.centres)}, {len(self.observed)} and {len(self.prior)}"
            raise ConfigError(
                f"'histogram' needs as many observed and prior values as centres (2 or more), found {found}"
            )

    @property
    def reach(self) -> float:
        """Where the axis ends."""
        return self.range or max(map(abs, self.centres))


@dataclass(frozen=True)
class LayerState:
    """What the log says of a layer."""

    threshold: float | None = None


@dataclass(frozen=True)
class LayerFit:
    """How well the latents of a layer follow the prior."""

    kl: float


@dataclass(frozen=True)
class Quantiles:
    """Quantiles of the prior and of all latents together, at the same ranks, in the prior's units."""

    prior: tuple[float, ...]
    observed: tuple[float, ...]

    def __post_init__(self) -> None:
        if not 2 <= len(self.prior) == len(self.observed):
            found = f"{len(self.prior)} and {len(self.observed)}"
            raise ConfigError(f"'quantiles' needs as many observed as prior ones (2 or more), found {found}")


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """One line of log.jsonl; what was not measured is None. Accuracies are in per cent."""

    epoch: int
    loss: float | None = None
    kl: float | None = None
    penalty: float | None = None
    train_accuracy: float | None = None
    validation_accuracy: float | None = None
    rate: float | None = None
    asked: float | None = None
    """The rate that the ramp asks for."""
    temperature: float | None = None
    threshold: float | None = None
    histogram: Histogram | None = None
    layers: dict[str, LayerState] | None = None
    fit: dict[str, LayerFit] | None = None
    quantiles: Quantiles | None = None


@dataclass(frozen=True)
class Run:
    """Everything the report draws from."""

    folder: Path
    config: dict[str, Any]
    metrics: Metrics
    weights: Weights
    log: tuple[Epoch, ...] = field(default=())

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name


def read_run(folder: Path) -> Run:
    """Read a run folder; without log.jsonl there are simply no pictures over time."""
    metrics = read_metrics(folder)
    config, log = read_object(folder / CONFIG), folder / LOG
    epochs = [_epoch(log, line, values) for line, values in read_object_lines(log)] if log.exists() else []
    # A resumed run may log an epoch a second time: the last word counts.
    latest = {epoch.epoch: epoch for epoch in epochs}
    return Run(
        folder=folder,
        config=config,
        metrics=metrics,
        weights=read_weights(folder / MODEL),
        log=tuple(latest[number] for number in sorted(latest)),
    )


def _epoch(path: Path, line: int, values: dict[str, Any]) -> Epoch:
    """A line of the log; its histogram knows the thresholds of the layers, and the epoch the histogram's."""
    try:
        found = build(Epoch, values, strict=False)
    except BandstopError as error:
        raise DataError(str(error), path=path, line=line) from None
    if found.histogram is None:
        return found
    layers = [layer.threshold for layer in (found.layers or {}).values() if layer.threshold is not None]
    histogram = replace(found.histogram, layer_thresholds=tuple(layers))
    threshold = histogram.threshold if found.threshold is None else found.threshold
    return replace(found, histogram=histogram, threshold=threshold)
