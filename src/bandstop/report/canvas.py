"""One palette, one way to make a figure, one way to put it into a page.

A picture in the page is inline SVG whose colours are CSS variables, so it follows the reader's light or dark
theme; matplotlib writes the light values and ``inline_svg`` swaps them for the variables.
"""

from __future__ import annotations

import html
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bandstop.errors import MissingExtra

try:
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ImportError:
    raise MissingExtra("matplotlib", extra="app") from None

__all__ = [
    "BAND",
    "INK",
    "LINE",
    "MUTED",
    "ON_PASS",
    "PAPER",
    "PASS",
    "PRIOR",
    "STOP",
    "figure",
    "house_style",
    "inline_svg",
    "numbered",
    "plain_axes",
]

# Each pair of hues stays apart for the common forms of colour blindness and in grey.
INK, MUTED, LINE, PAPER = "#1b2430", "#5f6b7a", "#d3d9e1", "#fffffe"
PASS, ON_PASS = "#0b66b0", "#fefefe"
"""What passes the gate; positive weights; text upon it."""
STOP = "#c24a06"
"""Thresholds; negative weights."""
BAND = "#eceff3"
"""The stop band and what it removed."""
PRIOR = "#7a3fa8"
"""The prior; the second curve of a pair."""

VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    LINE: "line",
    PAPER: "paper",
    PASS: "pass",
    ON_PASS: "on-pass",
    STOP: "stop",
    BAND: "band",
    PRIOR: "prior",
}

_STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 11,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.facecolor": "none",
    "axes.linewidth": 0.8,
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "text.color": INK,
    "text.parse_math": False,  # a class called "$x$" is a name, not a formula
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "svg.fonttype": "none",
}


def figure(width: float, height: float) -> Figure:
    """An empty figure of ``width`` × ``height`` CSS pixels, laid out without overlaps.

    >>> figure(360, 180).get_size_inches().tolist()
    [5.0, 2.5]
    """
    made = Figure(figsize=(width / 72, height / 72), dpi=72, layout="constrained")
    FigureCanvasAgg(made)
    return made


@contextmanager
def house_style() -> Iterator[None]:
    """The style of every picture, held while figures are made and saved; earlier settings come back after."""
    with matplotlib.rc_context(_STYLE):
        yield


def plain_axes(axes: Axes, *, left: bool = True) -> None:
    """Axes with only a bottom line and, where wanted, a left one."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines["left"].set_visible(left)
    axes.tick_params(axis="y", length=3 if left else 0)


def inline_svg(picture: Figure, name: str, label: str) -> str:
    """The figure as an ``<svg>`` element inside HTML: themed, without clashing identifiers, nothing external.

    ``name`` must differ between the pictures of one page; ``label`` is what a screen reader says.
    """
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}), warnings.catch_warnings():
        # Names may hold letters that DejaVu lacks; the reader's browser picks another font for them.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        picture.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    body = text[text.index(">", text.index("<svg")) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<[^>]+>", lambda tag: _slim(tag.group()), numbered(body, name))
    body = re.sub(r">\s*\n\s*<", "><", body)
    width, height = (72 * size for size in picture.get_size_inches())
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" style="max-width:{width:g}px" role="img" '
        f'aria-label="{html.escape(label)}">{body.strip()}'
    )


def numbered(svg: str, prefix: str) -> str:
    """Replace matplotlib's hashed identifiers by ``prefix`` and a number.

    The hashes are of positions to the last bit, which the layout's solver does not repeat from run to run.

    >>> numbered('<g id="p0123456789"/><use xlink:href="#p0123456789"/>', "gate 1")
    '<g id="gate-1-1"/><use xlink:href="#gate-1-1"/>'
    """
    given: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return found[1] + given.setdefault(found[2], f"{prefix.replace(' ', '-')}-{len(given) + 1}")

    return re.sub(r'( id="|"#|url\(#)([A-Za-z]\w*[0-9a-f]{10})(?=["\)])', name, svg)


def _slim(tag: str) -> str:
    """Drop what the page does not need of one tag and make its colours variables."""
    tag = re.sub(r' id="[a-zA-Z0-9.]+_\d+(?:_\d+)?"', "", tag)
    tag = re.sub(r"font: (?:(\d+) )?([\d.]+)px [^;\"]*", _font, tag)
    tag = re.sub(r"(\d+\.\d\d)\d+", r"\1", tag)
    return re.sub(r"#[0-9a-f]{6}\b", lambda colour: _variable(colour.group()), tag)


def _font(found: re.Match[str]) -> str:
    weight = f"; font-weight: {found[1]}" if found[1] else ""
    return f"font-size: {found[2]}px{weight}"


def _variable(colour: str) -> str:
    return f"var(--{VARIABLES[colour]})" if colour in VARIABLES else colour
