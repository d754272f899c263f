"""The aims of docs/frontier.md as tables: what was measured against them, and whether they are met."""

from __future__ import annotations

from collections.abc import Sequence

from frontier_points import Point, on, within

RATES = (None, 0.95, 0.98, 0.99, 0.995)
FPHA = {
    "before (GCN, motion)": (90.5, 91.4, 89.9, 88.8, 85.7),
    "aim": (94.0, 93.5, 92.5, 91.0, 88.0),
    "minimum": (92.0, 92.0, 91.0, 89.5, 86.5),
}
SIZES = (50_000, 15_000, 5_000, 2_000)
SHREC = {
    "aim": {"shrec-14": (96.0, 95.5, 94.5, 92.0), "shrec-28": (94.0, 93.0, 91.5, 88.0)},
    "minimum": {"shrec-14": (94.6, 94.0, 93.0, 90.0), "shrec-28": (91.9, 91.5, 90.0, 86.0)},
}


def judged(accuracy: float | None, aim: float, minimum: float) -> str:
    """A mean against both: the aim is met, only the minimum is, or how much is missing.

    >>> judged(94.2, 94.0, 92.0), judged(93.0, 94.0, 92.0), judged(91.5, 94.0, 92.0), judged(None, 94.0, 92.0)
    ('aim met', 'minimum met, 1.00 below the aim', '0.50 below the minimum', 'not measured')
    """
    if accuracy is None:
        return "not measured"
    accuracy = round(accuracy, 2)  # as the table prints it
    if accuracy >= aim:
        return "aim met"
    if accuracy >= minimum:
        return f"minimum met, {aim - accuracy:.2f} below the aim"
    return f"{minimum - accuracy:.2f} below the minimum"


def rate_name(rate: float | None) -> str:
    """``dense``, or the removed share.

    >>> rate_name(None), rate_name(0.995)
    ('dense', '99.5 %')
    """
    return "dense" if rate is None else f"{100 * rate:.4g} %"


def fpha_table(points: Sequence[Point]) -> list[str]:
    """FPHA by rate."""
    found = {point.rate: point for point in on(points, "fpha")}
    ours = [found.get(rate) for rate in RATES]
    rows = [["FPHA", *(rate_name(rate) for rate in RATES)]]
    rows += [[name, *(f"{value:g}" for value in values)] for name, values in FPHA.items()]
    return markdown([*rows, *_measured(ours, FPHA["aim"], FPHA["minimum"])])


def shrec_table(points: Sequence[Point], data: str) -> list[str]:
    """SHREC'17 by the number of weights that may stay."""
    ours = [within(on(points, data), size) for size in SIZES]
    aims = {name: values[data] for name, values in SHREC.items()}
    rows = [[f"SHREC'17, {data[-2:]} gestures", *(f"≤ {size:,}" for size in SIZES)]]
    rows += [[name, *(f"{value:g}" for value in values)] for name, values in aims.items()]
    return markdown([*rows, *_measured(ours, aims["aim"], aims["minimum"])])


def _measured(
    ours: Sequence[Point | None], aims: Sequence[float], minima: Sequence[float]
) -> list[list[str]]:
    said = [
        judged(None if point is None else point.accuracy.mean, aim, minimum)
        for point, aim, minimum in zip(ours, aims, minima, strict=True)
    ]
    return [
        ["weights", *("" if p is None else f"{p.weights:,}" for p in ours)],
        ["**measured**", *("" if p is None else f"**{p.said}**" for p in ours)],
        ["", *said],
    ]


def markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of Markdown: the first row is its head, the first column set left.

    >>> markdown([["a", "b"], ["1", "2"]])
    ['| a | b |', '|---|---:|', '| 1 | 2 |']
    """
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return [head, "|---|" + "---:|" * (len(rows[0]) - 1), *body]
