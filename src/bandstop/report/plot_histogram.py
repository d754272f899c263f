"""The latent weights against their prior at moments of training, the stop band between the thresholds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import NDArray

from bandstop.report.canvas import BAND, INK, LINE, MUTED, PASS, PRIOR, STOP, figure, plain_axes
from bandstop.report.runfolder import Epoch, Histogram

__all__ = ["chosen_moments", "draw_histogram", "histogram_panel", "tallest"]


def chosen_moments(log: Sequence[Epoch], most: int = 6) -> list[Epoch]:
    """At most ``most`` epochs with a histogram, evenly spread, the first and the last among them.

    >>> chosen_moments([])
    []
    """
    seen = [epoch for epoch in log if epoch.histogram is not None]
    places = np.unique(np.linspace(0, len(seen) - 1, min(most, len(seen))).round().astype(int))
    return [seen[place] for place in places.tolist()]


def density(values: Sequence[float], centres: Sequence[float]) -> NDArray[np.float64]:
    """Bin masses → a density per unit of latent weight, so that panels with other bins stay comparable."""
    mass = np.clip(np.asarray(values, dtype=float), 0, None)
    width = (max(centres) - min(centres)) / (len(centres) - 1) or 1.0
    total = mass.sum()
    return np.asarray(mass / (total * width) if total > 0 else mass)


def tallest(histograms: Sequence[Histogram]) -> float:
    """The common height of several panels; a lone spike may stand out of it, cut off."""
    tops = [
        top
        for shown in histograms
        for top in (
            float(density(shown.prior, shown.centres).max()),
            float(np.quantile(density(shown.observed, shown.centres), 0.97)),
        )
    ]
    return 1.15 * max([*tops, 1e-9])


def draw_histogram(axes: Axes, shown: Histogram, *, top: float, reach: float | None = None) -> None:
    """Bars: latent weights, grey if stopped, blue if passing, pale where layers differ; line: the prior."""
    centres = np.asarray(shown.centres)
    observed, prior = density(shown.observed, shown.centres), density(shown.prior, shown.centres)
    width = float(centres[1] - centres[0])
    limit = reach or shown.reach
    axes.set_yscale("function", functions=(_root, np.square))
    axes.set_ylim(0, top)
    axes.set_xlim(-limit, limit)
    cuts = shown.layer_thresholds or ((-1.0,) if shown.threshold is None else (shown.threshold,))
    passing, stopped = np.abs(centres) > max(cuts), np.abs(centres) <= min(cuts)
    if shown.threshold is not None:
        axes.axvspan(-shown.threshold, shown.threshold, color=BAND, linewidth=0)
        for side in (-shown.threshold, shown.threshold):
            axes.axvline(side, color=STOP, linewidth=1.1)
    if len(set(cuts)) > 1:
        marks = [side * cut for cut in cuts for side in (-1, 1)]
        high = [0.97] * len(marks)
        axes.plot(marks, high, "|", color=STOP, markersize=7, transform=axes.get_xaxis_transform())
    mixed = ~passing & ~stopped
    for mask, colour, strength in ((passing, PASS, 0.8), (stopped, MUTED, 0.75), (mixed, PASS, 0.4)):
        for start, stop in _stretches(mask):
            edges = np.append(centres[start:stop] - width / 2, centres[stop - 1] + width / 2)
            axes.stairs(observed[start:stop], edges, fill=True, color=colour, alpha=strength, linewidth=0)
    axes.plot(centres, prior, color=PRIOR, linewidth=1.5)
    axes.yaxis.set_major_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    plain_axes(axes, left=False)
    axes.spines["bottom"].set_color(LINE)


def histogram_panel(epoch: Epoch, *, top: float, reach: float) -> Figure:
    """One moment of training as a small picture."""
    if epoch.histogram is None:
        raise ValueError("an epoch without a histogram has no panel")
    panel = figure(280, 150)
    axes = panel.add_subplot()
    draw_histogram(axes, epoch.histogram, top=top, reach=reach)
    band = epoch.histogram.threshold
    axes.set_title(f"epoch {epoch.epoch}", color=INK, fontsize=11)
    if band is not None:
        axes.set_title(f"±{band:.3g}", loc="right", color=STOP, fontsize=10)
    axes.xaxis.set_major_locator(FixedLocator([-_tick(reach), 0, _tick(reach)]))
    return panel


def _tick(reach: float) -> float:
    return float(f"{0.75 * reach:.1g}")


def _root(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(np.clip(values, 0, None))


def _stretches(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Runs of True as (start, stop): one shape each instead of one bar a bin."""
    padded = np.concatenate([[False], mask, [False]])
    changes = np.flatnonzero(padded[1:] != padded[:-1]).tolist()
    return list(zip(changes[::2], changes[1::2], strict=True))
