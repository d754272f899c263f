"""A study at a glance: a row a method, a column a rate, and beside each rival what the baseline is ahead by."""

from __future__ import annotations

from collections.abc import Sequence

from bandstop.study.groups import Group
from bandstop.study.render import Strong, TextTable
from bandstop.study.statistics import Paired, holm, paired
from bandstop.study.tables import number, per_cent

__all__ = ["overview_tables"]

CLEAR = 0.05
"""Largest p, after Holm's correction, that earns a difference a star."""


def overview_tables(groups: Sequence[Group], metric: str = "accuracy") -> list[TextTable]:
    """For each data set the means, then the differences of the first pruned method from all others, paired by seed and fold."""
    made = []
    for data in dict.fromkeys(g.data for g in groups):
        block = [g for g in groups if g.data == data and g.rows]
        rates = sorted({g.rate for g in block if g.rate is not None})
        made += [_means(data, block, rates, metric), *_lead(data, block, rates, metric)]
    return made


def _means(data: str, groups: list[Group], rates: list[float], metric: str) -> TextTable:
    labels = list(dict.fromkeys(g.label for g in groups))
    found = {(g.label, g.rate): g.mean(metric) for g in groups}
    best = {rate: max(m.mean for (_, r), m in found.items() if r == rate) for rate in rates}
    rows = []
    for label in labels:
        cells = []
        for rate in (None, *rates):
            if (mean := found.get((label, rate))) is None:
                cells.append("")
                continue
            spread = "" if mean.deviation is None else f" ± {number(mean.deviation, metric)}"
            text = number(mean.mean, metric) + spread
            cells.append(Strong(text) if rate and best[rate] == mean.mean else text)
        rows.append((label, *cells))
    header = (data, "dense", *map(per_cent, rates))
    if not any(g.rate is None for g in groups):
        header, rows = (header[0], *header[2:]), [(r[0], *r[2:]) for r in rows]
    counts = sorted({len(g.by_seed(metric)) for g in groups})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    note = f"Mean {metric.replace('_', ' ')} ± standard deviation over {seeds} seeds; the best of a rate is bold."
    return TextTable(f"{data}: {metric.replace('_', ' ')} by rate", header, tuple(rows), (note,))


def _lead(data: str, groups: list[Group], rates: list[float], metric: str) -> list[TextTable]:
    """The differences, where there is something to compare."""
    tests: dict[tuple[str, float], Paired] = {}
    first = ""
    for rate in rates:
        block = [g for g in groups if g.rate == rate]
        first = first or block[0].label
        ahead = next((g for g in block if g.label == first), None)
        for other in block:
            if ahead and other.label != first:
                test = paired(ahead.by_run(metric), other.by_run(metric))
                if test is not None and test.p is not None:
                    tests[other.label, rate] = test
    if not tests:
        return []
    adjusted = dict(zip(tests, holm([t.p for t in tests.values()]), strict=True))

    def cell(label: str, rate: float) -> str:
        test = tests.get((label, rate))
        if test is None or test.low is None:
            return ""
        p = adjusted[label, rate]
        star = " *" if p is not None and p < CLEAR else ""
        low, high = number(test.low, metric, sign=True), number(test.high, metric, sign=True)
        return f"{number(test.difference, metric, sign=True)} ({low} … {high}){star}"

    labels = list(dict.fromkeys(label for label, _ in tests))
    rows = tuple((label, *(cell(label, rate) for rate in rates)) for label in labels)
    note = (
        f"Mean of paired differences and its 95 % interval; * is p < {CLEAR:g} in Student's paired test after Holm's correction "
        f"for the {len(tests)} tests of this table."
    )
    return [TextTable(f"{data}: {first} minus …", ("", *map(per_cent, rates)), rows, (note,))]
