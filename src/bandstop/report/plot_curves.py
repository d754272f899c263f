"""Accuracy, loss, divergence and rate over the epochs, on one axis of time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from bandstop.report.canvas import INK, LINE, MUTED, PASS, PRIOR, STOP, figure, plain_axes
from bandstop.report.runfolder import Epoch

__all__ = ["curve_panels", "log_scale"]

_Line = tuple[str, NDArray[np.float64], str]


def curve_panels(log: Sequence[Epoch]) -> list[tuple[str, Figure]]:
    """One picture a measure that the log holds, by name; all have the same axis of time."""
    epochs = np.asarray([epoch.epoch for epoch in log], dtype=float)
    panels = []
    for title, lines in _measures(log):
        drawn = [line for line in lines if bool(np.isfinite(line[1]).any())]
        if drawn:
            picture = figure(430, 175)
            picture.set_layout_engine("none")  # fixed margins, so that the axes of time of all panels line up
            _panel(picture.add_axes((0.1, 0.22, 0.88, 0.64)), title, drawn, epochs)
            panels.append((title, picture))
    return panels


def _measures(log: Sequence[Epoch]) -> list[tuple[str, list[_Line]]]:
    def series(name: str) -> NDArray[np.float64]:
        values = [getattr(epoch, name) for epoch in log]
        return np.asarray([np.nan if value is None else value for value in values], dtype=float)

    rate, divergence, penalty = series("rate"), series("kl"), series("penalty")
    judged = bool(np.isfinite(series("validation_accuracy")).any())
    return [
        (
            "accuracy" if judged else "training accuracy",
            [
                ("training", series("train_accuracy") / 100, MUTED),
                ("validation", series("validation_accuracy") / 100, PASS),
            ],
        ),
        ("loss", [("", series("loss"), INK)]),
        ("KL to the prior", [("", divergence, PRIOR)]),
        ("KL penalty on the loss", [("", penalty, PRIOR)] if np.nan_to_num(penalty).any() else []),
        ("pruning rate", [("", rate, STOP)] if np.nan_to_num(rate).any() else []),
    ]


def _panel(axes: Axes, title: str, lines: Sequence[_Line], epochs: NDArray[np.float64]) -> None:
    for label, values, colour in lines:
        seen = np.isfinite(values)
        lone = int(seen.sum()) == 1
        axes.plot(epochs[seen], values[seen], color=colour, label=label, marker="o" if lone else None)
    lowest = min(float(np.nanmin(values)) for _, values, _ in lines)
    highest = max(float(np.nanmax(values)) for _, values, _ in lines)
    if "accuracy" in title or title == "pruning rate":
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.set_ylim(0, 1.04)
        axes.set_yticks([0, 0.5, 1])
    elif lowest > 0 and highest > 30 * lowest:
        log_scale(axes, lowest, highest)
    else:
        axes.set_ylim(min(0.0, 1.05 * lowest), 1.06 * highest or 1.0)
        axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.set_title(title)
    if len(lines) > 1:
        axes.legend(frameon=False, fontsize=10, loc="lower right", ncols=2, handlelength=1.2, borderpad=0)
    axes.set_xlim(float(epochs.min()), float(max(epochs.max(), epochs.min() + 1)))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_xlabel("epoch", fontsize=10)
    axes.grid(axis="y", color=LINE)
    plain_axes(axes, left=False)


def log_scale(axes: Axes, lowest: float, highest: float) -> None:
    """A logarithmic axis from ``lowest`` to ``highest`` with plain numbers at the powers of ten."""
    axes.set_yscale("log")
    axes.set_ylim(lowest / 1.3, highest * 1.3)
    powers = range(int(np.floor(np.log10(lowest))), int(np.ceil(np.log10(highest))) + 1)
    ticks = [10.0**power for power in powers if lowest / 1.3 <= 10.0**power <= highest * 1.3]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
