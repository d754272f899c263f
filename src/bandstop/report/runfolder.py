"""A run folder as the report sees it: settings, measures, log of the epochs, skeleton and adjacency."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from bandstop.errors import BudgetError, DataError
from bandstop.method.budget import Budget, Kind, Scope
from bandstop.report.record import Record, read_object, read_object_lines
from bandstop.report.weights import Weights, read_weights

__all__ = ["Epoch", "Histogram", "Layer", "Measures", "Run", "read_measures", "read_run"]


@dataclass(frozen=True)
class Layer:
    """One prunable tensor and what is left of it."""

    name: str
    shape: tuple[int, ...]
    total: int
    kept: int
    live: int
    macs_dense: int
    macs_live: int
    threshold: float | None
    gain: float | None


@dataclass(frozen=True)
class Measures:
    """metrics.json, its percentages as fractions."""

    accuracy: float
    class_accuracy: float
    confusion: tuple[tuple[int, ...], ...]
    class_names: tuple[str, ...]
    weights_total: int
    weights_kept: int
    weights_live: int
    parameters_total: int
    parameters_kept: int
    macs_dense: int
    macs_live: int
    bytes_dense: int
    bytes_sparse: int
    rate_asked: float | None
    rate_observed: float | None
    budget: Budget | None
    method: str
    seed: int
    epochs: int
    seconds: float
    machine: str
    split: str
    layers: tuple[Layer, ...]
    distilled_from: str

    @property
    def pruned(self) -> bool:
        """Whether anything was removed."""
        return self.weights_kept < self.weights_total


@dataclass(frozen=True)
class Histogram:
    """The pooled latent weights over bins, beside their prior, both summing to one."""

    centres: tuple[float, ...]
    observed: tuple[float, ...]
    prior: tuple[float, ...]
    threshold: float | None
    reach: float
    layer_thresholds: tuple[float, ...] = ()


@dataclass(frozen=True)
class Epoch:
    """One line of log.jsonl; what was not measured is None."""

    epoch: int
    loss: float | None
    kl: float | None
    penalty: float | None
    train_accuracy: float | None
    validation_accuracy: float | None
    rate: float | None
    temperature: float | None
    threshold: float | None
    histogram: Histogram | None


@dataclass(frozen=True)
class Run:
    """Everything the report draws from."""

    folder: Path
    config: dict[str, Any]
    measures: Measures
    weights: Weights
    log: tuple[Epoch, ...] = field(default=())

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name


def read_run(folder: Path) -> Run:
    """Read a run folder; without log.jsonl there are simply no pictures over time."""
    measures = read_measures(folder)
    config = read_object(folder / "config.json").values
    log = folder / "log.jsonl"
    epochs = [_epoch(line) for line in read_object_lines(log)] if log.exists() else []
    # A resumed run may log an epoch a second time: the last word counts.
    latest = {epoch.epoch: epoch for epoch in epochs}
    return Run(
        folder=folder,
        config=config,
        measures=measures,
        weights=read_weights(folder / "model.safetensors"),
        log=tuple(latest[number] for number in sorted(latest)),
    )


def read_measures(folder: Path) -> Measures:
    """Read only a run's metrics.json: all that a comparison needs."""
    if not folder.is_dir():
        raise DataError(
            "a run folder is expected and there is none", path=folder, hint="give the folder of --out"
        )
    read = read_object(folder / "metrics.json")
    names = tuple(str(name) for name in read.items("class_names"))
    return Measures(
        accuracy=read.percentage("accuracy"),
        class_accuracy=read.percentage("class_accuracy"),
        confusion=_confusion(read, len(names)),
        class_names=names,
        weights_total=read.count("weights_total"),
        weights_kept=read.count("weights_kept"),
        weights_live=read.count("weights_live"),
        parameters_total=read.count("parameters_total"),
        parameters_kept=read.count("parameters_kept"),
        macs_dense=read.count("macs_dense"),
        macs_live=read.count("macs_live"),
        bytes_dense=read.count("bytes_dense"),
        bytes_sparse=read.count("bytes_sparse"),
        rate_asked=read.maybe_number("rate_asked"),
        rate_observed=read.maybe_number("rate_observed"),
        budget=_budget(read),
        method=read.text("method", default="unknown"),
        seed=read.count("seed"),
        epochs=read.count("epochs"),
        seconds=read.number("seconds"),
        machine=read.text("machine", default=""),
        split=read.text("split", default=""),
        layers=tuple(_layer(part) for part in read.parts("layers")),
        distilled_from=_teachers(read),
    )


def _teachers(read: Record) -> str:
    if isinstance(read.values.get("distilled_from"), list):
        return ", ".join(str(teacher) for teacher in read.items("distilled_from"))
    return read.text("distilled_from", default="")


def _confusion(read: Record, classes: int) -> tuple[tuple[int, ...], ...]:
    rows = read.items("confusion")
    shaped = len(rows) == classes and all(isinstance(row, list) and len(row) == classes for row in rows)
    if not shaped or any(type(cell) is not int or cell < 0 for row in rows for cell in row):
        raise read.refuse(f"'confusion' must hold {classes} rows of {classes} counts, one a class")
    return tuple(tuple(row) for row in rows)


def _budget(read: Record) -> Budget | None:
    if read.values.get("budget") is None:
        return None
    part = read.part("budget")
    kind, scope = part.text("kind"), part.text("scope", default="prunable")
    if kind not in get_args(Kind) or scope not in get_args(Scope):
        raise read.refuse(f"'budget' has the unknown kind {kind!r} or scope {scope!r}")
    try:
        return Budget(kind, part.number("amount"), scope)  # type: ignore[arg-type]
    except BudgetError as error:
        raise read.refuse(f"'budget' cannot be: {error}") from None


def _layer(read: Record) -> Layer:
    return Layer(
        name=read.text("name"),
        shape=tuple(int(size) for size in read.numbers("shape")),
        total=read.count("total"),
        kept=read.count("kept"),
        live=read.count("live"),
        macs_dense=read.count("macs_dense"),
        macs_live=read.count("macs_live"),
        threshold=read.maybe_number("threshold"),
        gain=read.maybe_number("gain"),
    )


def _epoch(read: Record) -> Epoch:
    histogram = None if read.values.get("histogram") is None else _histogram(read)
    threshold = read.maybe_number("threshold")
    return Epoch(
        epoch=read.count("epoch"),
        loss=read.maybe_number("loss"),
        kl=read.maybe_number("kl"),
        penalty=read.maybe_number("penalty"),
        train_accuracy=_hundredth(read.maybe_number("train_accuracy")),
        validation_accuracy=_hundredth(read.maybe_number("validation_accuracy")),
        rate=read.maybe_number("rate"),
        temperature=read.maybe_number("temperature"),
        threshold=threshold if threshold is not None or histogram is None else histogram.threshold,
        histogram=histogram,
    )


def _hundredth(value: float | None) -> float | None:
    return None if value is None else value / 100


def _histogram(line: Record) -> Histogram:
    read = line.part("histogram")
    centres, observed, prior = (tuple(read.numbers(key)) for key in ("centres", "observed", "prior"))
    if not 2 <= len(centres) == len(observed) == len(prior):
        found = f"{len(centres)}, {len(observed)} and {len(prior)}"
        raise read.refuse(
            f"'histogram' needs as many observed and prior values as centres (2 or more), found {found}"
        )
    reach = read.maybe_number("range")
    layers = (
        line.part("layers") if line.values.get("layers") is not None else Record({}, line.path, line.line)
    )
    cuts = [layers.part(name).maybe_number("threshold") for name in layers.values]
    return Histogram(
        centres,
        observed,
        prior,
        threshold=read.maybe_number("threshold"),
        reach=reach or max(map(abs, centres)),
        layer_thresholds=tuple(cut for cut in cuts if cut is not None),
    )
