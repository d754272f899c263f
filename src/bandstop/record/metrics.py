"""metrics.json: how good and how large a finished network is. Training writes it, other rooms read it."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

from bandstop.errors import ConfigError
from bandstop.method.budget import Budget

__all__ = ["LayerSize", "Metrics", "Mistake", "Quality", "Size"]


@dataclass(frozen=True, kw_only=True)
class Quality:
    """How often a network is right; accuracies in per cent."""

    accuracy: float
    """Share of the sequences that are recognised."""
    class_accuracy: float
    """The same, averaged over the classes."""
    confusion: tuple[tuple[int, ...], ...]
    """Number of sequences by true class (row) and found class (column)."""


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A recording that was taken for another class."""

    recording: str
    truth: str
    found: str


@dataclass(frozen=True, kw_only=True)
class LayerSize:
    """One prunable tensor and what is left of it."""

    name: str
    shape: tuple[int, ...]
    total: int
    kept: int
    live: int
    macs_dense: int
    macs_nominal: int | None = None
    macs_live: int
    threshold: float | None = None
    gain: float | None = None

    @property
    def macs(self) -> int:
        """As :attr:`Size.macs`."""
        return self.macs_live if self.macs_nominal is None else self.macs_nominal


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large a network is, in all and per layer."""

    weights_total: int
    """Prunable weights."""
    weights_kept: int
    """Of these, those that are not exactly zero."""
    weights_live: int
    """Of these, those on a path from an input to an output."""
    parameters_total: int
    """All parameters, with those that are never pruned."""
    parameters_kept: int
    macs_dense: int
    """Multiply-accumulates of one inference of the dense network."""
    macs_nominal: int | None = None
    """The same of the kept weights; None in old files."""
    macs_live: int
    """Of these, products of what varies with the input that matter for the output."""
    bytes_dense: int
    """Bytes of the plain arrays."""
    bytes_sparse: int
    """Bytes of the kept values, each with its index, and of what is never pruned."""
    layers: tuple[LayerSize, ...]

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the kept weights, what a budget in MACs is about.

        Old files have those of the live weights only.
        """
        return self.macs_live if self.macs_nominal is None else self.macs_nominal

    @property
    def pruned(self) -> bool:
        """Whether anything was removed."""
        return self.weights_kept < self.weights_total


@dataclass(frozen=True, kw_only=True)
class Metrics(Size, Quality):
    """Everything that metrics.json says of a finished run."""

    split: str = ""
    """The part of the data that it was judged on."""
    class_names: tuple[str, ...]
    mistakes: tuple[Mistake, ...] = ()
    """The recordings that were not recognised; empty in old files."""
    dropped: tuple[str, ...] = ()
    """Recordings that were left out because they cannot be used."""
    rate_asked: float | None = None
    rate_observed: float | None = None
    budget: Budget | None = None
    method: str = "unknown"
    method_description: str = ""
    """What the method does, in one sentence; empty in old files."""
    prior: str | None = None
    distilled_from: tuple[str, ...] = ()
    """Run folders of its teachers."""
    rates: str | None = None
    extracted_from: str | None = None
    joined_from: tuple[str, ...] = ()
    """Run folders of the networks that it has side by side; ``seconds`` are those of all of them."""
    seed: int
    epochs: int
    seconds: float
    machine: str = ""

    def __post_init__(self) -> None:
        for name in ("accuracy", "class_accuracy"):
            if not 0 <= (found := getattr(self, name)) <= 100:
                raise ConfigError(f"'{name}' must be a percentage between 0 and 100, found {found}")
        for field in dataclasses.fields(self):
            found = getattr(self, field.name)
            if isinstance(found, int) and found < 0:
                raise ConfigError(f"'{field.name}' must be a whole number of 0 or more, found {found}")
        classes = len(self.class_names)
        square = len(self.confusion) == classes and all(len(row) == classes for row in self.confusion)
        if not square or any(cell < 0 for row in self.confusion for cell in row):
            raise ConfigError(f"'confusion' must hold {classes} rows of {classes} counts, one per class")

    @property
    def judged_on(self) -> str:
        """The part of the data that it was judged on, in words: "the test split, 30 % of every class"."""
        name, _, how = self.split.partition(" (")
        return f"the {name} split" + (f", {how.removesuffix(')')}" if how else "")

    @property
    def stored_bytes(self) -> int:
        """Bytes of the network as one would store it: dense arrays if it is dense, else sparse ones."""
        return self.bytes_dense if self.method == "dense" else self.bytes_sparse

    def to_json(self) -> str:
        """As stored in a run folder."""
        return json.dumps(dataclasses.asdict(self), indent=1)
