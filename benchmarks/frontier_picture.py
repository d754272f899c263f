"""The picture of docs/frontier.md: accuracy against weights, a panel for each data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from frontier_points import CLAIMED, PANELS, Point, Published, on

from bandstop.files import atomic_write

OURS, THEIRS, EARLIER = "#0072b2", "#d55e00", "#7a7a7a"
FEWEST, MOST = 900, 26_000_000
"""Ends of the axis of weights."""
ROOM = 1.5
"""Points of accuracy left free above and below."""


def limits(ours: Sequence[Point], published: Sequence[float]) -> tuple[float, float]:
    """Ends of the axis of accuracy: all of ours, and published figures unless they are far below.

    Far below is more than six points under the lower of our worst and their median: one such figure would
    press all others together. It is drawn at the foot, with an arrow.

    >>> limits([], [71.9, 84.4, 86.3, 90.0, 90.4, 90.7, 91.9])
    (82.5, 93.5)
    """
    means = [point.accuracy.mean for point in ours]
    middle = sorted(published)[len(published) // 2] if published else 100.0
    floor = min([*means, middle]) - 6
    shown = [*means, *(value for value in published if value >= floor)] or [80.0, 100.0]
    low, high = min(shown) - ROOM, max(shown) + ROOM
    return _half(low, down=True), min(_half(high, down=False), 100.0)


def _half(value: float, *, down: bool) -> float:
    """The next half below or above."""
    doubled = 2 * value
    whole = int(doubled)
    return (whole if down or whole == doubled else whole + 1) / 2


def draw(
    points: Sequence[Point], published: Sequence[Published], earlier: Sequence[Point], path: Path
) -> None:
    """One panel a data set, all with the same axis of weights."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"font.size": 10.5, "axes.titlesize": 12, "text.parse_math": False}):
        figure = Figure(figsize=(10.4, 4.4), layout="constrained")
        FigureCanvasAgg(figure)
        for panel, (data, title) in zip(figure.subplots(1, len(PANELS)), PANELS.items(), strict=True):
            theirs = [entry for entry in published if data in entry.accuracy and entry.parameters]
            _frame(panel, title, limits([*on(points, data), *on(earlier, data)], _figures(theirs, data)))
            _earlier(panel, on(earlier, data))
            _ours(panel, on(points, data))
            _theirs(panel, theirs, data)
        figure.axes[0].set_ylabel("accuracy on the test split, %")
        figure.supxlabel("weights that the network keeps", fontsize=10.5)
        with atomic_write(path) as part:
            figure.savefig(part, format="png", dpi=160, metadata={"Software": None})


def _figures(theirs: Sequence[Published], data: str) -> list[float]:
    return [entry.accuracy[data] for entry in theirs]


def _frame(panel: Any, title: str, ends: tuple[float, float]) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    panel.set(xscale="log", xlim=(FEWEST, MOST), ylim=ends, title=title)
    panel.xaxis.set_major_locator(LogLocator(10, numticks=8))
    panel.xaxis.set_major_formatter(lambda weights, _: short(weights))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.axvspan(FEWEST, CLAIMED, color=OURS, alpha=0.05, linewidth=0)
    panel.axvline(CLAIMED, color=OURS, alpha=0.35, linewidth=0.8, linestyle=":")
    panel.text(CLAIMED * 0.9, ends[0], " 50 k", color=OURS, alpha=0.8, fontsize=9, ha="right", va="bottom")
    panel.grid(True, axis="y", alpha=0.25, linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)


def short(weights: float) -> str:
    """A size as on the axis.

    >>> short(1000), short(150_000), short(1_820_000)
    ('1 k', '150 k', '1.82 M')
    """
    return f"{weights / 1e6:.3g} M" if weights >= 1e6 else f"{weights / 1e3:.3g} k"


def _ours(panel: Any, ours: Sequence[Point]) -> None:
    """The pruned networks as a curve with a band of one standard deviation, the dense one at its end."""
    if not ours:
        return
    weights = [point.weights for point in ours]
    means = [point.accuracy.mean for point in ours]
    spread = [point.accuracy.deviation or 0.0 for point in ours]
    low, high = ([m + sign * s for m, s in zip(means, spread, strict=True)] for sign in (-1, 1))
    panel.fill_between(weights, low, high, color=OURS, alpha=0.18, linewidth=0)
    panel.plot(weights, means, color=OURS, linewidth=2)
    for point, mean in zip(ours, means, strict=True):
        dense = point.method == "dense"
        panel.plot(
            point.weights, mean, "o", color=OURS, markersize=6, markerfacecolor="white" if dense else OURS
        )
    top = max(range(len(ours)), key=lambda k: means[k])
    panel.annotate(
        "bandstop", (weights[top], high[top]), (0, 6), textcoords="offset points", color=OURS,
        fontweight="bold", ha="center", va="bottom",
    )  # fmt: skip
    if ours[-1].method == "dense":
        _label(panel, "dense", weights[-1], means[-1], OURS)


def _earlier(panel: Any, earlier: Sequence[Point]) -> None:
    """What this repository had before."""
    if not earlier:
        return
    weights, means = [p.weights for p in earlier], [p.accuracy.mean for p in earlier]
    panel.plot(weights, means, color=EARLIER, linewidth=1, linestyle="--", marker=".", markersize=5)
    panel.annotate(
        "before: GCN, motion", (weights[0], means[0]), (7, -3), textcoords="offset points",
        color=EARLIER, fontsize=9, va="top",
    )  # fmt: skip


def _theirs(panel: Any, theirs: Sequence[Published], data: str) -> None:
    """Published points; those of a family are joined and named at the largest."""
    foot, head = panel.get_ylim()
    if not theirs:
        note = "no published network\nwith a stated size"
        panel.text(0.97, 0.04, note, transform=panel.transAxes, color=THEIRS, fontsize=9, ha="right")
    for family in dict.fromkeys(entry.family for entry in theirs):
        members = sorted((e for e in theirs if e.family == family), key=lambda e: e.parameters or 0)
        sizes, figures = [e.parameters or 0 for e in members], _figures(members, data)
        if figures[-1] < foot:
            mark = foot + 0.025 * (head - foot)
            panel.plot(sizes[-1], mark, "v", color=THEIRS, markersize=6)
            text = f"{family}, {figures[-1]:.1f}"
            panel.annotate(
                text, (sizes[-1], mark), (-6, 0), textcoords="offset points", color=THEIRS,
                fontsize=9, ha="right", va="center",
            )  # fmt: skip
            continue
        panel.plot(sizes, figures, color=THEIRS, linewidth=1, marker="s", markersize=5)
        _label(panel, family, sizes[-1], figures[-1], THEIRS)


def _label(panel: Any, text: str, weights: float, accuracy: float, colour: str) -> None:
    """A name beside its point, or under it where the axis ends."""
    near_end = weights > 3e6
    place = {"ha": "right", "va": "top"} if near_end else {"ha": "left", "va": "center"}
    offset = (13, -6) if near_end else (7, 0)
    panel.annotate(
        text, (weights, accuracy), offset, textcoords="offset points", color=colour, fontsize=9, **place
    )
