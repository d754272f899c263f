"""The tables of a study: what each method reached, and how methods compare pair by pair."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from bandstop.errors import ConfigError
from bandstop.study.tables.groups import METRICS, Group
from bandstop.study.tables.render import TextTable
from bandstop.study.tables.statistics import Mean, Paired, holm, paired

__all__ = [
    "ALL_PAIRS",
    "check_metric",
    "interval",
    "number",
    "paired_tables",
    "pairs",
    "per_cent",
    "summary_tables",
    "with_spread",
]

ALL_PAIRS = "all"
"""As a baseline: every method against every other."""
_IN_PER_CENT = ("accuracy", "class_accuracy")


def check_metric(metric: str) -> str:
    """A column that can be averaged."""
    if metric not in METRICS:
        raise ConfigError(f"--metric must be one of {', '.join(METRICS)}, found {metric!r}")
    return metric


def per_cent(rate: float | None) -> str:
    """A rate as text.

    >>> per_cent(0.995), per_cent(None)
    ('99.5 %', 'dense')
    """
    return "dense" if rate is None else f"{rate * 100:.6g} %"


def number(value: float | None, metric: str, sign: bool = False) -> str:
    """A value of a metric as text: accuracies with two digits after the point, counts with none.

    >>> number(88.314, "accuracy"), number(3854.0, "weights_kept"), number(-0.5, "accuracy", sign=True)
    ('88.31', '3,854', '−0.50')
    """
    if value is None:
        return "–"
    digits = (
        2 if metric in _IN_PER_CENT else 4 if metric == "rate_observed" else 1 if "seconds" in metric else 0
    )
    text = f"{value:{'+' if sign else ''},.{digits}f}"
    return text.replace("-", "−")


def with_spread(found: Mean, metric: str) -> str:
    """A mean ± its standard deviation, if there is one, as text.

    >>> with_spread(Mean(3, 88.314, 1.25, 85.2, 91.4), "accuracy")
    '88.31 ± 1.25'
    >>> with_spread(Mean(1, 88.0, None, None, None), "accuracy")
    '88.00'
    """
    spread = "" if found.deviation is None else f" ± {number(found.deviation, metric)}"
    return number(found.mean, metric) + spread


def summary_tables(groups: Sequence[Group], metric: str = "accuracy") -> list[TextTable]:
    """A table a data set: mean ± deviation and interval over seeds, and what the networks cost."""
    return [_summary(data, [g for g in groups if g.data == data], metric) for data in _data(groups)]


def _summary(data: str, groups: list[Group], metric: str) -> TextTable:
    distilled = any(g.distilled for g in groups)
    other = "class_accuracy" if metric == "accuracy" else "accuracy"
    header = ["method", "rate", "seeds", metric.replace("_", " "), "95 % interval", other.replace("_", " ")]
    header += ["weights", "live", "observed rate", "bytes", "live MACs", "seconds"] + (
        ["with teachers"] if distilled else []
    )
    rows = []
    for g in sorted((g for g in groups if g.rows), key=lambda g: -1.0 if g.rate is None else g.rate):
        found = g.mean(metric)
        cells = [
            g.label,
            per_cent(g.rate),
            str(found.count),
            with_spread(found, metric),
            interval(found.low, found.high, metric),
            number(g.mean(other).mean, other),
            f"{g.average(lambda r: r.weights_kept):,.0f}",
            f"{g.average(lambda r: r.weights_live):,.0f}",
            f"{g.average(lambda r: r.rate_observed) * 100:.2f} %",
            f"{g.average(lambda r: r.bytes):,.0f}",
            f"{g.average(lambda r: r.macs_live):,.0f}",
            f"{g.average(lambda r: r.seconds):.0f}",
        ]
        rows.append(
            (*cells, f"{g.average(lambda r: r.seconds + r.teacher_seconds):.0f}")
            if distilled
            else tuple(cells)
        )
    return TextTable(f"{data}: {metric.replace('_', ' ')}", tuple(header), tuple(rows), _notes(groups))


def _notes(groups: list[Group]) -> tuple[str, ...]:
    notes = ["Mean ± standard deviation and 95 % t-interval over seeds"]
    folds = {row.fold for g in groups for row in g.rows}
    if len(folds) > 1:
        notes[0] += f", each the average of {len(folds)} folds"
    splits = {row.split for g in groups for row in g.rows}
    judged = f"judged on: {', '.join(sorted(splits))}"
    return (f"{notes[0]}; {judged}.", *(f"{said}." for g in groups for said in g.left_out))


def paired_tables(
    groups: Sequence[Group], metric: str = "accuracy", baseline: str | None = None
) -> list[TextTable]:
    """Paired tests, a table a data set: each method against the baseline at the same rate.

    ``baseline`` is a method or a whole label; a dense one stands against every rate; ``all`` is every pair;
    by default it is the first pruned method at each rate, in the plan's order.
    """
    made = []
    for data, found in pairs(groups, baseline).items():
        tests = [(a, b, paired(a.by_run(metric), b.by_run(metric))) for a, b in found]
        known_tests = [(a, b, test) for a, b, test in tests if test is not None]
        if known_tests:
            made.append(_paired(data, known_tests, metric))
    return made


def pairs(groups: Sequence[Group], baseline: str | None = None) -> dict[str, list[tuple[Group, Group]]]:
    """By data set: each group beside the one that it is compared with, at the same rate."""
    used = [g for g in groups if g.rows]
    if baseline not in (None, ALL_PAIRS) and not any(baseline in (g.method, g.label) for g in used):
        known = ", ".join(dict.fromkeys(g.label for g in used))
        raise ConfigError(
            f"--baseline must be a method of the results or {ALL_PAIRS}, found {baseline!r}; "
            f"there are {known}"
        )
    return {data: _pairs([g for g in used if g.data == data], baseline) for data in _data(used)}


def _pairs(groups: list[Group], baseline: str | None) -> list[tuple[Group, Group]]:
    rates = sorted({g.rate for g in groups if g.rate is not None})
    dense = [g for g in groups if g.rate is None]
    found = []
    for rate in rates:
        block = [g for g in groups if g.rate == rate]
        if baseline == ALL_PAIRS:
            found += list(itertools.combinations(block, 2))
            continue
        chosen = (
            block[:1]
            if baseline is None
            else [g for g in (*block, *dense) if baseline in (g.method, g.label)]
        )
        if len(chosen) > 1:
            exact = [g for g in chosen if g.label == baseline]
            if len(exact) != 1:
                labels = ", ".join(repr(g.label) for g in chosen)
                raise ConfigError(
                    f"--baseline {baseline!r} fits several rows at {per_cent(rate)}; "
                    f"name one of them: {labels}"
                )
            chosen = exact
        found += [(g, chosen[0]) for g in block if chosen and g is not chosen[0]]
    if not rates:
        found = [(a, b) for b, a in itertools.combinations(dense, 2)]
    return found


def _paired(data: str, tests: Sequence[tuple[Group, Group, Paired]], metric: str) -> TextTable:
    adjusted = holm([test.p for _, _, test in tests])
    rows = [
        (
            f"{ours.label} − {theirs.label}",
            per_cent(ours.rate),
            str(test.count),
            number(test.difference, metric, sign=True),
            interval(test.low, test.high, metric, sign=True),
            _p(test.p),
            _p(p),
        )
        for (ours, theirs, test), p in zip(tests, adjusted, strict=True)
    ]
    header = ("difference", "rate", "pairs", metric.replace("_", " "), "95 % interval", "p", "p (Holm)")
    folds = any(row.fold is not None for ours, _, _ in tests for row in ours.rows)
    unit = "seed and fold" if folds else "seed"
    allowed = f"p (Holm) allows for the number of tests in this table ({len(tests)})"
    note = f"Student's paired test by {unit}; {allowed}."
    if folds:
        note += " Folds share training data, so these intervals are somewhat too narrow."
    return TextTable(f"{data}: paired differences", header, tuple(rows), (note,))


def interval(low: float | None, high: float | None, metric: str, sign: bool = False) -> str:
    """The ends of an interval as text, a dash where there is none."""
    return "–" if low is None else f"{number(low, metric, sign)} … {number(high, metric, sign)}"


def _p(value: float | None) -> str:
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _data(groups: Sequence[Group]) -> list[str]:
    return list(dict.fromkeys(g.data for g in groups))
