"""One picture that tells a run: what the gate stopped, what survived on the skeleton, what layers kept."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bandstop.errors import ConfigError
from bandstop.files import atomic_write, write_text
from bandstop.report.canvas import INK, MUTED, PAPER, PASS, PRIOR, STOP, figure, house_style, numbered
from bandstop.report.plot_adjacency import draw_adjacency
from bandstop.report.plot_histogram import chosen_moments, draw_histogram, tallest
from bandstop.report.plot_layers import draw_layers
from bandstop.report.plot_reads import draw_reads
from bandstop.report.posture import flat_positions
from bandstop.report.runfolder import Histogram, Run, read_run
from bandstop.report.words import headline

__all__ = ["hero_picture", "write_figure"]

WIDTH, HEIGHT = 1200, 470
_MOST_LINKS = 36


def write_figure(run: Path, path: Path) -> Path:
    """Write the run's picture, 1200 pixels wide on white, as a ``.png`` or ``.svg``; gives back its path."""
    path = Path(path)
    form = path.suffix.lower().lstrip(".")
    if form not in ("png", "svg"):
        raise ConfigError(f"a figure must be written as .png or .svg, found '{path.name}'")
    found = read_run(Path(run))
    # As an image the SVG cannot count on the reader's fonts, so its letters are outlines.
    with house_style(), matplotlib.rc_context({"svg.fonttype": "path"}):
        picture = hero_picture(found)
        if form == "svg":
            drawing = io.StringIO()
            picture.savefig(drawing, format="svg", facecolor="white", metadata={"Date": None})
            write_text(path, numbered(drawing.getvalue(), "part"))
        else:
            with atomic_write(path) as part:
                picture.savefig(part, format="png", facecolor="white")
    return path


def hero_picture(run: Run) -> Figure:
    """The panels that the folder has material for, side by side under the headline."""
    moments = chosen_moments(run.log)
    drawers: list[tuple[float, Callable[[Axes], None]]] = []
    if moments and moments[-1].histogram is not None:
        drawers.append((1.1, lambda axes: _histogram(axes, moments[-1].histogram)))
    if run.weights.adjacency is not None and run.weights.adjacency.size:
        drawers.append((1.35, lambda axes: _adjacency(axes, run)))
    elif run.weights.reads:
        drawers.append((1.0, lambda axes: _reads(axes, run)))
    if run.metrics.layers:
        drawers.append((1.2, lambda axes: _layers(axes, run)))
    picture = figure(WIDTH, HEIGHT)
    picture.set_layout_engine("constrained", w_pad=0.18, h_pad=0.18, wspace=0.03)
    picture.suptitle(headline(run.metrics), x=0.018, ha="left", fontsize=21, fontweight="bold", color=INK)
    if drawers:
        grid = picture.subplots(1, len(drawers), squeeze=False, width_ratios=[share for share, _ in drawers])
        for axes, (_, draw) in zip(grid[0], drawers, strict=True):
            draw(axes)
            axes.tick_params(labelsize=12.5)
    return picture


def _titles(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=14.5, color=INK, pad=12)


def _histogram(axes: Axes, shown: Histogram | None) -> None:
    if shown is None:
        return
    draw_histogram(axes, shown, top=tallest([shown]))
    _titles(axes, "Latent weights and their stop band")
    axes.set_xlabel("latent weight", fontsize=12.5)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    words = [("passes", PASS), ("prior", PRIOR)]
    if shown.threshold is not None:
        words[1:1] = [("stopped", MUTED), ("thresholds", STOP)]
    for place, (text, colour) in enumerate(words):
        axes.text(
            0.985,
            0.94 - 0.075 * place,
            text,
            color=colour,
            fontsize=12.5,
            fontweight="bold",
            ha="right",
            transform=axes.transAxes,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 2.5},
        )


def _adjacency(axes: Axes, run: Run) -> None:
    heads = run.weights.adjacency
    if heads is None:
        return
    # All heads on one skeleton: between two joints the strongest head speaks.
    strongest = np.take_along_axis(heads, np.abs(heads).argmax(axis=0)[None], axis=0)[0]
    positions = flat_positions(run.weights, heads.shape[1])
    largest = float(np.abs(heads).max()) or 1.0
    draw_adjacency(
        axes, strongest, positions, run.weights.edges, largest=largest, most=_MOST_LINKS, boldness=1.5
    )
    drawn = int(np.count_nonzero(strongest))
    title = f"What joints hear of each other, {len(heads)} heads"
    _titles(
        axes, title if drawn <= _MOST_LINKS else f"{_MOST_LINKS} strongest of {drawn:,} links between joints"
    )


def _reads(axes: Axes, run: Run) -> None:
    counts = np.sum([counts for _, counts in run.weights.reads], axis=0)
    positions = flat_positions(run.weights, len(counts))
    draw_reads(axes, counts, positions, run.weights.edges, most=int(counts.max()), boldness=1.5)
    _titles(axes, f"Joints by the {counts.sum():,} connections that read them")


def _layers(axes: Axes, run: Run) -> None:
    draw_layers(axes, run.metrics.layers, text_size=12.5)
    _titles(axes, "Connections kept by layer")
