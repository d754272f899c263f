"""Accuracy against kept weights, on a logarithmic axis, with bands over seeds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bandstop.errors import ConfigError, MissingExtra
from bandstop.files import atomic_write
from bandstop.study.tables.groups import Group

__all__ = ["Line", "curves", "write_curve"]

SUFFIXES = (".png", ".svg", ".pdf")
# Okabe and Ito's colours, apart for the common forms of colour blindness; markers tell a second round apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS, DASHES = "osD^vPX", ("-", "--", "-.", ":")

Line = list[tuple[float, float, float | None, float | None]]
"""Points of a method: weights kept, mean, and its interval."""


def curves(groups: Sequence[Group], metric: str) -> dict[str, Line]:
    """A line for each method of one data set, by rising number of weights."""
    lines: dict[str, Line] = {}
    for g in groups:
        if g.rows:
            found = g.mean(metric)
            lines.setdefault(g.label, []).append(
                (g.average(lambda r: r.weights_kept), found.mean, found.low, found.high)
            )
    return {label: sorted(points, key=lambda point: point[0]) for label, points in lines.items()}


def write_curve(groups: Sequence[Group], metric: str, path: Path) -> None:
    """Draw a panel a data set; bands are 95 % intervals over seeds."""
    if path.suffix not in SUFFIXES:
        raise ConfigError(f"--curve must end in {', '.join(SUFFIXES)}, found {path}")
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", extra="app") from None
    names = list(dict.fromkeys(g.data for g in groups))
    style: dict[Any, Any] = {"text.parse_math": False, "svg.hashsalt": "bandstop", "font.size": 10}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        picture = Figure(figsize=(7.2 * len(names), 4.4), layout="constrained")
        FigureCanvasAgg(picture)
        labels = list(dict.fromkeys(g.label for g in groups))
        for place, data in enumerate(names, 1):
            axes = picture.add_subplot(1, len(names), place)
            _panel(axes, curves([g for g in groups if g.data == data], metric), labels)
            axes.set(title=data, xlabel="weights kept", ylabel=metric.replace("_", " "))
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix, {})
        with atomic_write(path) as part:
            picture.savefig(part, format=path.suffix[1:], dpi=160, metadata=metadata)


def _panel(axes: Any, lines: dict[str, Line], labels: list[str]) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    for label, points in lines.items():
        order = labels.index(label)
        colour, again = COLOURS[order % len(COLOURS)], order // len(COLOURS)
        look = {
            "color": colour,
            "marker": MARKERS[again % len(MARKERS)],
            "linestyle": DASHES[again % len(DASHES)],
        }
        kept, means, low, high = zip(*points, strict=True)
        axes.plot(kept, means, label=label, markersize=4, linewidth=1.5, **look)
        lower = [m if v is None else v for m, v in zip(means, low, strict=True)]
        upper = [m if v is None else v for m, v in zip(means, high, strict=True)]
        if len(points) > 1:
            axes.fill_between(kept, lower, upper, color=colour, alpha=0.15, linewidth=0)
        else:
            axes.errorbar(
                kept,
                means,
                [[means[0] - lower[0]], [upper[0] - means[0]]],
                color=colour,
                capsize=3,
                linewidth=1,
            )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(lambda kept, _: f"{kept:,.0f}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(True, which="both", alpha=0.2, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0))
