"""A study at a glance: one row per method, one column per rate, and the lead of the baseline."""

from __future__ import annotations

from collections.abc import Sequence

from bandstop.errors import ConfigError
from bandstop.study.tables.groups import Group
from bandstop.study.tables.render import Strong, TextTable
from bandstop.study.tables.statistics import holm, paired
from bandstop.study.tables.summary import ALL_PAIRS, interval, number, pairs, per_cent, with_spread

__all__ = ["overview_tables"]

CLEAR = 0.05
"""Largest p, after Holm's correction, that earns a difference a star."""


def overview_tables(
    groups: Sequence[Group], metric: str = "accuracy", baseline: str | None = None
) -> list[TextTable]:
    """For each data set the means, then the lead of the baseline over all others, paired by seed and fold."""
    if baseline == ALL_PAIRS:
        raise ConfigError(
            f"an overview has one baseline, found {ALL_PAIRS!r}: name a method or leave --overview out"
        )
    made = []
    for data, found in pairs(groups, baseline).items():
        made += [_means(data, [g for g in groups if g.data == data and g.rows], metric)]
        made += _lead(data, found, metric)
    return made


def _means(data: str, groups: list[Group], metric: str) -> TextTable:
    rates = sorted({g.rate for g in groups if g.rate is not None})
    columns = [None, *rates] if any(g.rate is None for g in groups) else rates
    found = {(g.label, g.rate): g.mean(metric) for g in groups}
    best = {rate: max(m.mean for (_, r), m in found.items() if r == rate) for rate in rates}

    def cell(label: str, rate: float | None) -> str:
        if (mean := found.get((label, rate))) is None:
            return ""
        text = with_spread(mean, metric)
        return Strong(text) if rate is not None and best[rate] == mean.mean else text

    labels = dict.fromkeys(g.label for g in groups)
    rows = tuple((label, *(cell(label, rate) for rate in columns)) for label in labels)
    counts = sorted({len(g.by_seed(metric)) for g in groups})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    what = f"Mean {metric.replace('_', ' ')} ± standard deviation over {seeds} seeds"
    note = f"{what}; the best of a rate is bold."
    title = f"{data}: {metric.replace('_', ' ')} by rate"
    return TextTable(title, (data, *map(per_cent, columns)), rows, (note,))


def _lead(data: str, found: list[tuple[Group, Group]], metric: str) -> list[TextTable]:
    """The differences, where there is something to compare."""
    tested = [(other, first, paired(first.by_run(metric), other.by_run(metric))) for other, first in found]
    known = [(other, first, test) for other, first, test in tested if test is not None and test.p is not None]
    if not known:
        return []
    cells = {}
    for (other, _, test), p in zip(known, holm([test.p for _, _, test in known]), strict=True):
        star = " *" if p is not None and p < CLEAR else ""
        ends = interval(test.low, test.high, metric, sign=True)
        cells[other.label, other.rate] = f"{number(test.difference, metric, sign=True)} ({ends}){star}"
    rates = sorted({rate for _, rate in cells if rate is not None})
    labels = dict.fromkeys(label for label, _ in cells)
    rows = tuple((label, *(cells.get((label, rate), "") for rate in rates)) for label in labels)
    note = (
        f"Mean of paired differences and its 95 % interval; * is p < {CLEAR:g} in Student's paired test "
        f"after Holm's correction for the {len(known)} tests of this table."
    )
    return [TextTable(f"{data}: {known[0][1].label} minus …", ("", *map(per_cent, rates)), rows, (note,))]
