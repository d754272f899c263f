"""Kept and live connections of each layer on a log axis, the layer's whole size outlined."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from bandstop.record.metrics import LayerSize
from bandstop.report.canvas import INK, LINE, MUTED, PASS, figure, plain_axes
from bandstop.report.words import count

__all__ = ["draw_layers", "layers_picture"]


def layers_picture(layers: Sequence[LayerSize]) -> Figure:
    """One bar a layer."""
    picture = figure(640, 60 + 34 * len(layers))
    draw_layers(picture.add_subplot(), layers)
    return picture


def draw_layers(axes: Axes, layers: Sequence[LayerSize], *, text_size: float = 10.5) -> None:
    """Outline: all weights; pale: kept; solid: live. What is zero has no bar (a log axis has no zero)."""
    rows = range(len(layers))
    axes.set_xscale("log")
    for row, layer in zip(rows, layers, strict=True):
        for value, face, edge, alpha in (
            (layer.kept, PASS, "none", 0.35),
            (layer.live, PASS, "none", 1.0),
            (layer.total, "none", MUTED, 1.0),
        ):
            if value:
                axes.barh(
                    row, value - 0.7, left=0.7, height=0.62, facecolor=face, edgecolor=edge, alpha=alpha
                )
    largest = max((layer.total for layer in layers), default=1)
    # Room to the right of the longest bar for its numbers.
    axes.set_xlim(0.7, largest * (largest / 0.7) ** 0.42)
    for row, layer in zip(rows, layers, strict=True):
        text = f"{count(layer.kept)} of {count(layer.total)}"
        if layer.live != layer.kept:
            text += f", {count(layer.live)} live"
        axes.annotate(
            text,
            (layer.total, row),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=text_size,
            color=INK,
        )
    powers = [10**power for power in range(10) if 10**power <= largest]
    axes.xaxis.set_major_locator(FixedLocator(powers))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count(value)))
    axes.set_yticks(list(rows), [layer.name for layer in layers])
    for label in axes.get_yticklabels():
        label.set_color(INK)
    axes.set_ylim(len(layers) - 0.45, -0.55)
    axes.grid(axis="x", color=LINE)
    axes.set_axisbelow(True)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="x", length=0)
    plain_axes(axes, left=False)
