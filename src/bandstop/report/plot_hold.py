"""How well the prior holds: the rate asked and observed, each layer's divergence, quantiles side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from bandstop.report.canvas import BAND, INK, LINE, MUTED, PASS, PRIOR, STOP, figure, plain_axes
from bandstop.report.plot_curves import log_scale
from bandstop.report.runfolder import Epoch, Quantiles

__all__ = ["draw_quantiles", "hold_panels"]

_STYLES = ("solid", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)))
"""Lines of layers are told apart by style and by colour."""
_COLOURS = (PRIOR, PASS, STOP, INK, MUTED)


def hold_panels(log: Sequence[Epoch]) -> list[tuple[str, Figure]]:
    """The pictures that the log has the material for, by name."""
    panels = []
    rated = [epoch for epoch in log if epoch.asked is not None and epoch.rate is not None]
    if len(rated) > 1:
        panels.append(("Rate asked and observed", _drawn(_rates, rated)))
        panels.append(("Observed less asked", _drawn(_errors, rated)))
    fitted = [epoch for epoch in log if epoch.fit]
    if fitted:
        panels.append(("KL to the prior by layer", _drawn(_divergences, fitted)))
    if (last := next((e for e in reversed(log) if e.quantiles is not None), None)) is not None:
        picture = figure(330, 300)
        assert last.quantiles is not None
        axes = picture.add_subplot()
        draw_quantiles(axes, last.quantiles, last.threshold)
        axes.set_title(f"quantiles at epoch {last.epoch}")
        panels.append((f"Quantiles at epoch {last.epoch}", picture))
    return panels


def _drawn(draw: Callable[[Axes, Sequence[Epoch]], None], epochs: Sequence[Epoch]) -> Figure:
    picture = figure(430, 190)
    axes = picture.add_subplot()
    draw(axes, epochs)
    axes.set_xlim(epochs[0].epoch, max(epochs[-1].epoch, epochs[0].epoch + 1))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_xlabel("epoch", fontsize=10)
    axes.grid(axis="y", color=LINE)
    plain_axes(axes, left=False)
    return picture


def _rates(axes: Axes, epochs: Sequence[Epoch]) -> None:
    times = [epoch.epoch for epoch in epochs]
    axes.plot(times, [e.asked or 0.0 for e in epochs], color=PRIOR, linewidth=3.2, alpha=0.45, label="asked")
    axes.plot(times, [e.rate or 0.0 for e in epochs], color=STOP, linewidth=1.2, label="observed")
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_ylim(0, 1.04)
    axes.set_title("rate asked and observed")
    axes.legend(frameon=False, fontsize=10, loc="lower right", ncols=2, handlelength=1.2, borderpad=0)


def _errors(axes: Axes, epochs: Sequence[Epoch]) -> None:
    """The difference in points: what the budget is missed by without counting."""
    points = [100 * ((e.rate or 0.0) - (e.asked or 0.0)) for e in epochs]
    axes.axhline(0, color=PRIOR, linewidth=1)
    axes.plot([epoch.epoch for epoch in epochs], points, color=STOP)
    most = max(0.1, 1.1 * max(map(abs, points)))
    axes.set_ylim(-most, most)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.set_title("observed less asked rate, in points")


def _divergences(axes: Axes, epochs: Sequence[Epoch]) -> None:
    names = list(dict.fromkeys(name for epoch in epochs for name in epoch.fit or {}))
    for number, name in enumerate(names):
        seen = [(e.epoch, max(e.fit[name].kl, 1e-6)) for e in epochs if e.fit and name in e.fit]
        style, colour = _STYLES[number % len(_STYLES)], _COLOURS[number % len(_COLOURS)]
        axes.plot(
            *zip(*seen, strict=True), color=colour, linestyle=style, label=name, marker="o", markersize=3
        )
    found = [max(fit.kl, 1e-6) for epoch in epochs for fit in (epoch.fit or {}).values()]
    log_scale(axes, min(found), max(found))
    axes.set_title("KL to the prior, by layer")
    if len(names) <= 8:
        axes.legend(frameon=False, fontsize=9, ncols=2, handlelength=2.4, borderpad=0)


def draw_quantiles(axes: Axes, shown: Quantiles, threshold: float | None) -> None:
    """The latents' quantiles over the prior's: on the diagonal where the prior holds.

    Outside the band, drawn at the mean threshold of the layers, a latent weight passes.
    """
    prior, observed = np.asarray(shown.prior), np.asarray(shown.observed)
    reach = 1.05 * float(max(np.abs(prior).max(), np.abs(observed).max()))
    if threshold is not None:
        axes.axhspan(-threshold, threshold, color=BAND, linewidth=0)
        for side in (-threshold, threshold):
            axes.axhline(side, color=STOP, linewidth=1.1)
    axes.plot([-reach, reach], [-reach, reach], color=PRIOR, linewidth=1.2)
    passing = np.abs(observed) > (threshold or 0.0)
    for mask, colour in ((passing, PASS), (~passing, MUTED)):
        axes.plot(prior[mask], observed[mask], "o", color=colour, markersize=4)
    wide = 1.15 * float(np.abs(prior).max())
    axes.set_xlim(-wide, wide)
    axes.set_ylim(-reach, reach)
    axes.set_xlabel("quantile of the prior", fontsize=10)
    axes.set_ylabel("quantile of the latent weights", fontsize=10)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5))
    plain_axes(axes)
