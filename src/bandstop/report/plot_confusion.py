"""Which class is taken for which: the row-normalised confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from bandstop.report.canvas import INK, LINE, ON_PASS, PASS, STOP, figure

__all__ = ["LARGEST_MATRIX", "confusion_picture", "short_name"]


LARGEST_MATRIX = 120
"""Classes beyond which a matrix with names is no longer a picture."""


def confusion_picture(confusion: Sequence[Sequence[int]], names: Sequence[str]) -> Figure:
    """A cell a pair of classes, its strength and number the percentage of the row; empty cells stay empty.

    Right answers are blue, mistakes orange, so that both can be told from the position and from the hue.
    """
    classes = len(names)
    cell = 30 if classes <= 12 else 22 if classes <= 24 else 16
    shown = [short_name(name) for name in names]
    margin = 18 + 6.2 * max(map(len, shown))
    side = cell * classes
    picture = figure(side + margin + 12, side + margin + 12)
    picture.set_layout_engine("none")
    width, height = (72 * inches for inches in picture.get_size_inches())
    axes = picture.add_axes((margin / width, 8 / height, side / width, side / height))
    counts = np.asarray(confusion, dtype=float).reshape(classes, classes)
    rows = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    filled = np.argwhere(rows > 0).tolist()
    squares = [[(c, r), (c + 1, r), (c + 1, r + 1), (c, r + 1)] for r, c in filled]
    colours = [to_rgba(PASS if r == c else STOP, 0.12 + 0.88 * rows[r, c]) for r, c in filled]
    axes.add_collection(PolyCollection(squares, facecolors=colours, linewidths=0))
    digits = 11 if cell > 28 else 9 if cell > 20 else 7.2
    for r, c in filled:
        text = f"{100 * rows[r, c]:.0f}"
        colour = ON_PASS if rows[r, c] > 0.5 else INK
        axes.text(c + 0.5, r + 0.53, text, ha="center", va="center", fontsize=digits, color=colour)
    names_size = 11 if cell > 20 else 10
    places = np.arange(classes) + 0.5
    axes.set_xticks(places, shown, rotation=90, fontsize=names_size)
    axes.set_yticks(places, shown, fontsize=names_size)
    axes.xaxis.tick_top()
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_color(INK)
    axes.set_xlim(0, classes)
    axes.set_ylim(classes, 0)
    axes.tick_params(length=0)
    axes.set_xticks(range(classes + 1), minor=True)
    axes.set_yticks(range(classes + 1), minor=True)
    axes.tick_params(which="minor", length=0)
    axes.grid(which="minor", color=LINE, linewidth=0.5)
    axes.spines[:].set_color(LINE)
    return picture


def short_name(name: str, longest: int = 22) -> str:
    """A class name fit for an axis.

    >>> short_name("open_juice_bottle"), short_name("a very long name of a class indeed")
    ('open juice bottle', 'a very long name of a…')
    """
    plain = " ".join(name.replace("_", " ").split()) or "–"
    return plain if len(plain) <= longest else f"{plain[: longest - 1].rstrip()}…"
