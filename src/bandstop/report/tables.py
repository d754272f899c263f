"""The report's numbers as rows of text: key figures, comparison, layers, provenance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bandstop.record.drop import dropped_text
from bandstop.record.metrics import LayerSize, Metrics
from bandstop.report.words import count, duration, percent, share, size

__all__ = ["Tile", "comparison_rows", "key_figures", "layer_rows", "provenance_rows"]


@dataclass(frozen=True)
class Tile:
    """One key figure: what, how much, and set against what."""

    label: str
    value: str
    note: str


def key_figures(run: Metrics) -> list[Tile]:
    """The figures that open the page."""
    return [
        Tile("Accuracy", percent(run.accuracy / 100), f"class average {percent(run.class_accuracy / 100)}"),
        Tile("Weights kept", count(run.weights_kept), f"of {count(run.weights_total)} prunable"),
        Tile(
            "Live weights",
            count(run.weights_live),
            f"{share(run.weights_live, run.weights_kept)} of the kept",
        ),
        Tile("Size", size(run.stored_bytes), f"of {size(run.bytes_dense)} dense"),
        Tile("Multiply-accumulates", count(run.macs), f"of {count(run.macs_dense)} dense"),
    ]


_COMPARED: tuple[tuple[str, Callable[[Metrics], str]], ...] = (
    ("Method", lambda run: run.method),
    ("Accuracy", lambda run: percent(run.accuracy / 100)),
    ("Class accuracy", lambda run: percent(run.class_accuracy / 100)),
    ("Weights kept", lambda run: count(run.weights_kept)),
    ("Live weights", lambda run: count(run.weights_live)),
    ("All parameters kept", lambda run: count(run.parameters_kept)),
    ("Bytes", lambda run: count(run.stored_bytes)),
    ("MACs, dense", lambda run: count(run.macs_dense)),
    ("MACs", lambda run: count(run.macs)),
    ("MACs, live", lambda run: count(run.macs_live)),
    ("Training time", lambda run: duration(run.seconds)),
)


def comparison_rows(runs: Sequence[Metrics]) -> list[tuple[str, list[str]]]:
    """One row per measure, one cell per run."""
    return [(label, [shown(run) for run in runs]) for label, shown in _COMPARED]


def layer_rows(layers: Sequence[LayerSize]) -> list[list[str]]:
    """Name, shape, weights, kept, share, live, MACs, threshold and gain of every layer, and the sum."""
    rows = [
        [
            layer.name,
            " × ".join(map(str, layer.shape)),
            *_amounts(layer.total, layer.kept, layer.live, layer.macs, layer.macs_dense),
            _short(layer.threshold),
            _short(layer.gain),
        ]
        for layer in layers
    ]
    sums = [
        sum(getattr(layer, name) for layer in layers)
        for name in ("total", "kept", "live", "macs", "macs_dense")
    ]
    return [*rows, ["all layers", "", *_amounts(*sums), "", ""]]


def provenance_rows(run: Metrics) -> list[tuple[str, str]]:
    """How the figures came about; what is unknown is left out."""
    asked = (
        run.budget and f"{run.budget.kind} {run.budget.amount:,g}, {run.budget.scope or 'prunable weights'}"
    )
    rows = [
        ("Measured on", run.split),
        ("Recordings", dropped_text(run.dropped) if run.dropped else ""),
        ("Budget asked", asked or "none"),
        ("Rate asked", "" if run.rate_asked is None else percent(run.rate_asked)),
        ("Rate observed", "" if run.rate_observed is None else percent(run.rate_observed)),
        ("Seed", str(run.seed)),
        ("Epochs", count(run.epochs)),
        ("Training time", duration(run.seconds)),
        ("Machine", run.machine),
        ("Distilled from", ", ".join(run.distilled_from)),
        ("Joined from", ", ".join(run.joined_from)),
    ]
    return [(label, value) for label, value in rows if value]


def _amounts(total: int, kept: int, live: int, macs: int, macs_dense: int) -> list[str]:
    return [count(total), count(kept), share(kept, total), count(live), count(macs), count(macs_dense)]


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
