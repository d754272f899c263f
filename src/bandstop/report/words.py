"""Numbers and sentences as the report says them."""

from __future__ import annotations

from collections.abc import Sequence

from bandstop.errors import BudgetError
from bandstop.method.budget import VALUE_BYTES
from bandstop.record.metrics import Metrics

__all__ = [
    "confused_pairs",
    "count",
    "counting_sentence",
    "duration",
    "headline",
    "method_sentence",
    "percent",
    "recordings",
    "share",
    "size",
]

_GAP = "\N{NO-BREAK SPACE}"


def count(value: float) -> str:
    """A whole number with thousands separators.

    >>> count(39400)
    '39,400'
    """
    return f"{value:,.0f}"


def percent(fraction: float) -> str:
    """A fraction as a percentage, with enough decimals not to call nearly all "100 %" or nearly none "0 %".

    >>> [percent(value).replace(_GAP, " ") for value in (0.98, 1.0, 0.99996, 0.0, 0.0004)]
    ['98.0 %', '100.0 %', '99.996 %', '0.0 %', '0.04 %']
    """
    decimals = 1
    while decimals < 6 and 0 < fraction < 1 and float(f"{100 * fraction:.{decimals}f}") in (0.0, 100.0):
        decimals += 1
    return f"{100 * fraction:.{decimals}f}{_GAP}%"


def share(part: float, whole: float) -> str:
    """``part / whole`` as a percentage; a dash when there is no whole.

    >>> share(1, 0)
    '–'
    """
    return percent(part / whole) if whole else "–"


def size(number: float) -> str:
    """Bytes in a unit that keeps them short.

    >>> [size(value).replace(_GAP, " ") for value in (12, 4120, 2_500_000)]
    ['12 B', '4.1 kB', '2.5 MB']
    """
    if number < 1000:
        return f"{number:.0f}{_GAP}B"
    return f"{number / 1e3:.1f}{_GAP}kB" if number < 1e6 else f"{number / 1e6:.1f}{_GAP}MB"


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(83.2).replace(_GAP, " "), duration(7260).replace(_GAP, " ")
    ('1 min 23 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f}{_GAP}s"
    if seconds < 3600:
        return f"{seconds // 60:.0f}{_GAP}min {seconds % 60:.0f}{_GAP}s"
    return f"{seconds // 3600:.0f}{_GAP}h {seconds % 3600 // 60:.0f}{_GAP}min"


def headline(run: Metrics, dense: Metrics | None = None) -> str:
    """The run in one line; ``dense`` is an unpruned run to set its accuracy against."""
    if not run.pruned:
        return f"Dense: all {count(run.weights_total)} connections, {percent(run.accuracy / 100)} accuracy"
    cut = percent(1 - run.weights_kept / run.weights_total)
    kept = f"{count(run.weights_kept)} of {count(run.weights_total)} connections kept"
    before = f"{percent(dense.accuracy / 100)} dense → " if dense else ""
    return f"{cut} pruned: {kept}, {verdict(run)}; {before}{percent(run.accuracy / 100)} accuracy"


def verdict(run: Metrics) -> str:
    """Whether the budget was met, judged from the counts and not from what the run says of itself."""
    if run.budget is None:
        return "no budget asked"
    amount, kind = run.budget.amount, run.budget.kind
    unpruned = run.parameters_total - run.weights_total
    if kind in ("rate", "weights"):
        try:
            wanted = run.budget.connections(prunable=run.weights_total, unpruned=unpruned, smallest=0)
        except BudgetError:
            return f"although {run.budget.describe()} is impossible"
        return "exactly as asked" if wanted == run.weights_kept else f"{count(wanted)} asked"
    if kind == "macs":
        spent, unit = run.macs, "multiply-accumulates"
    else:
        spent, unit = run.bytes_sparse, "bytes"
        if run.budget.scope == "prunable":
            spent, unit = spent - unpruned * VALUE_BYTES, "bytes without never-pruned parameters"
    return f"{count(spent)} of the {count(amount)} {unit} asked" + (
        "" if spent <= amount else ": over budget"
    )


def confused_pairs(run: Metrics, most: int = 5) -> list[tuple[str, str, int, int]]:
    """The most frequent mistakes: (true class, class it was taken for, how often, of how many)."""
    wrong = [
        (row, column, times, sum(cells))
        for row, cells in enumerate(run.confusion)
        for column, times in enumerate(cells)
        if row != column and times
    ]
    wrong.sort(key=lambda pair: (-pair[2], pair[3], pair[0], pair[1]))
    names: Sequence[str] = run.class_names
    return [(names[row], names[column], times, of) for row, column, times, of in wrong[:most]]


def recordings(run: Metrics, truth: str, found: str, most: int = 8) -> str:
    """The names of the recordings of one mistake; run folders of old versions do not have them."""
    names = [m.recording for m in run.mistakes if (m.truth, m.found) == (truth, found)]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def method_sentence(run: Metrics) -> str:
    """The method's name and what it does, in one sentence; run folders of old versions have the name only."""
    if not run.method_description:
        return f"Method “{run.method}”."
    return f"Method “{run.method}”: {run.method_description[0].lower()}{run.method_description[1:]}"


def counting_sentence(run: Metrics) -> str:
    """What is counted, in one sentence."""
    fixed = run.parameters_total - run.weights_total
    return (
        f"Connections are the {count(run.weights_total)} prunable weights; the {count(fixed)} biases and "
        f"normalisation terms are never pruned but count among all parameters ({count(run.parameters_kept)} "
        f"of {count(run.parameters_total)} remain); kept is every weight that is not exactly zero, live only "
        f"those on a path from an input to an output "
        f"({count(run.weights_live)} of {count(run.weights_kept)})."
    )
